#!/usr/bin/env bash
# papers.sh FOLDER -- makes the certificates of the tests there: an authority, what it has signed, and another one.
# Needs openssl; takes less than a second.
set -euo pipefail
cd "$1"

cat > ca.cnf << 'END'
[ca]
default_ca = ours
[ours]
database = index.txt
rand_serial = yes
new_certs_dir = .
certificate = root.pem
private_key = root.key
default_md = sha256
default_days = 3650
default_crl_days = 30
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = dn
prompt = no
[dn]
CN = none
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[server]
subjectAltName = DNS:localhost, DNS:store.example, IP:127.0.0.1, IP:::1
extendedKeyUsage = serverAuth, clientAuth
[named]
subjectAltName = DNS:localhost
[elsewhere]
subjectAltName = DNS:elsewhere.example, IP:127.0.0.2
[nodes]
subjectAltName = DNS:*.game.example
[client]
extendedKeyUsage = clientAuth
END
for i in 0 1 2 3 4 5; do
    printf '[node%s]\nsubjectAltName = DNS:node-%s.game.example, DNS:fleet.game.example\n' $i $i >> ca.cnf
done
: > index.txt

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }

authority() {
    new_key "$1"
    openssl req -x509 -new -config ca.cnf -extensions root -key "$1.key" -subj "/CN=Guildhall tests $1" -days 3650 \
        -out "$1.pem"
}

# issue NAME EXTENSIONS [ARGUMENT...]
issue() {
    local name=$1 extensions=$2
    shift 2
    new_key "$name"
    openssl req -new -config ca.cnf -key "$name.key" -subj "/CN=$name" -out "$name.csr"
    openssl ca -batch -config ca.cnf -notext -extensions "$extensions" -in "$name.csr" -out "$name.pem" "$@"
}

authority root
authority other
issue server server
issue server2 server
issue elsewhere elsewhere
issue named named
issue expired server -startdate 20200101000000Z -enddate 20200201000000Z
issue future server -startdate 20900101000000Z -enddate 20910101000000Z
issue revoked server
for i in 0 1 2 3 4 5; do issue "node$i" "node$i"; done # of a Cluster: for its name, and that of all, and no number
issue nodes nodes                                      # for all names of them
issue client client
issue late client -startdate 20200101000000Z -enddate 20200201000000Z
openssl ca -config ca.cnf -revoke revoked.pem
openssl ca -config ca.cnf -gencrl -out list.pem
openssl x509 -in root.pem -outform DER -out root.der
openssl pkcs8 -topk8 -v2 des3 -passout pass:secret -in client.key -out locked.key # mbedTLS 2.28 reads no other
