// peer.js ADDRESS -- BullMQ on the work of the tasks bench: pushes in bulk, processes with concurrency 100.
//
// ADDRESS is unix:PATH or HOST:PORT. Answers lines "WORK SECONDS" with "ok OPERATIONS SECONDS" or "no WHY". Everything
// lies in database 3, which "forget" empties.
'use strict';

const readline = require('readline');
const { Queue, Worker } = require('bullmq');
const { version } = require('bullmq/package.json');

const database = 3;
const bulk = 1000;
const concurrency = 100;

function connectionOf(address) {
    if (address.startsWith('unix:')) return { path: address.slice(5), db: database, maxRetriesPerRequest: null };
    const colon = address.lastIndexOf(':');
    return {
        host: address.slice(0, colon), port: Number(address.slice(colon + 1)), db: database,
        maxRetriesPerRequest: null,
    };
}

const connection = connectionOf(process.argv[2]);
const queue = new Queue('bench', { connection });

function emptyTasks(count) {
    const options = { removeOnComplete: true };
    return Array.from({ length: count }, () => ({ name: 'work', data: {}, opts: options }));
}

function processAll(worker, count) {
    return new Promise((resolve, reject) => {
        let done = 0;
        worker.on('error', reject);
        worker.on('completed', () => {
            done += 1;
            if (done === count) resolve();
        });
        worker.run().catch(reject);
    });
}

async function round(count) {
    const worker = new Worker('bench', async () => {}, { connection, concurrency, autorun: false });
    await worker.waitUntilReady();
    const begun = process.hrtime.bigint();
    for (let left = count; left > 0; left -= bulk) await queue.addBulk(emptyTasks(Math.min(bulk, left)));
    await processAll(worker, count);
    const spent = Number(process.hrtime.bigint() - begun) / 1e9;
    await worker.close();
    return spent;
}

const works = {
    async hello() {
        await queue.waitUntilReady();
        return [0, 0];
    },
    async tasks(seconds) {
        let count = 0;
        let spent = 0;
        while (spent < seconds) {
            const size = Math.max(3 * bulk, Math.round(seconds * 15000 / bulk) * bulk);
            spent += await round(size);
            count += size;
        }
        return [count, spent];
    },
    async forget() {
        const client = await queue.client;
        await client.flushdb();
        return [0, 0];
    },
};

async function main() {
    queue.on('error', () => {}); // what was asked for fails, and says why
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const [name, seconds] = line.split(' ');
        try {
            const [count, spent] = await works[name](Number(seconds));
            process.stdout.write(`ok ${count} ${spent.toFixed(9)} bullmq ${version}\n`);
        } catch (problem) {
            process.stdout.write(`no ${String(problem).replace(/\n/g, ' ')}\n`);
        }
    }
    process.exit(0);
}

main();
