/* reply_class.h -- what each error reply of a server means for the request that got it: one table. */

#ifndef GH_REPLY_CLASS_H
#define GH_REPLY_CLASS_H

#include "guildhall/base.h"

typedef enum gh_reply_class
{
    GH_CLASS_OTHER = 0, /* an error of the command or script itself; Guildhall's own scripts never answer one   */
    GH_CLASS_RETRY,     /* not carried out; the server will take it later, here                                 */
    GH_CLASS_SLOT,      /* as RETRY, here or at another node: the slot moves, or a node failed, in a Cluster    */
    GH_CLASS_MOVED,     /* as REFUSED, by those who do not follow a Cluster: another node has the slot          */
    GH_CLASS_HEALTH,    /* as RETRY, and somebody should look after the server                                  */
    GH_CLASS_NOSCRIPT,      /* not carried out: the script is not there                                             */
    GH_CLASS_RECONNECT, /* not carried out; not this server, or not this connection                             */
    GH_CLASS_LOGIN,     /* not carried out: the connection has not logged in; refused for good in a hand-shake  */
    GH_CLASS_REFUSED,   /* never carried out; asking again will not help                                        */
    GH_CLASS_WRONGTYPE,   /* a key has another type than it should                                                */
    GH_CLASS_CORRUPT,   /* a key of Guildhall's own is not of its making: said by our scripts                   */
    GH_CLASS_LOCK_CORRUPT, /* the same of the lock of a fence, or of a receipt: said before a caller's script   */
    GH_CLASS_STALE,     /* the store's data is of a later generation than the client knows: said by our scripts */
    GH_CLASS_LATE,      /* not carried out: it came after its time, or the client has the store's clock wrong   */
    GH_CLASS_STOPPED,   /* a script was stopped where it called what its user may not; it may have written      */
    GH_CLASS_HALF,      /* a script was stopped because its slot moves to another node; it may have written     */
    GH_CLASS_FENCED     /* the fence check said no                                                              */
} gh_reply_class;

gh_reply_class gh_reply_classify(gh_str error);

/* False: it begins with a code word of the servers' and is none of their phrases, so a script of a caller's has made it
   up. That script has run. */
bool gh_reply_is_whole(gh_str error);

#endif
