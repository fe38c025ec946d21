/* store_sets.c -- commands about sets, which Guildhall does not use itself. Their order is that in which members came.
 */

#include "store_commands.h"

void gh_store_sadd(gh_store* store)
{
    store_key key;
    int64_t added = 0;
    uint32_t at;
    if (!gh_store_key_typed(store, STORE_SET, &key)) return;
    if (key.value == NULL) key.value = gh_store_key_make(store, &key, STORE_SET);
    for (at = 2; at < store->count; at++)
    {
        const gh_str name = store->words[at];
        const uint32_t hash = gh_store_hash(name);
        if (gh_store_dict_find(&key.value->dict, name, hash) != NULL) continue;
        gh_store_dict_add(&key.value->dict, store->pool, name, hash);
        gh_store_note_size(key.value, name.size, 0);
        added++;
    }
    gh_store_changed(store, (uint64_t)added);
    gh_store_reply_integer(store, added);
}

void gh_store_srem(gh_store* store)
{
    gh_store_members_remove(store, STORE_SET);
}

void gh_store_sismember(gh_store* store)
{
    store_key key;
    if (!gh_store_key_typed(store, STORE_SET, &key)) return;
    gh_store_reply_integer(store, key.value != NULL && gh_store_dict_find(&key.value->dict, store->words[2],
                                                                          gh_store_hash(store->words[2])) != NULL);
}

void gh_store_scard(gh_store* store)
{
    store_key key;
    if (gh_store_key_typed(store, STORE_SET, &key))
        gh_store_reply_integer(store, key.value == NULL ? 0 : key.value->dict.count);
}

void gh_store_smembers(gh_store* store)
{
    store_key key;
    const store_entry* entry;
    uint32_t at = 0;
    if (!gh_store_key_typed(store, STORE_SET, &key)) return;
    gh_store_reply_array(store, key.value == NULL ? 0 : key.value->dict.count);
    while (key.value != NULL && (entry = gh_store_dict_next(&key.value->dict, &at)) != NULL)
        gh_store_reply_text(store, gh_store_entry_name(entry));
}
