/* guildhall.h -- every public header of Guildhall, for those who want one include. */

#ifndef GUILDHALL_GUILDHALL_H
#define GUILDHALL_GUILDHALL_H

#include "guildhall/aggregate.h"
#include "guildhall/base.h"
#include "guildhall/chat.h"
#include "guildhall/client.h"
#include "guildhall/cluster.h"
#include "guildhall/command.h"
#include "guildhall/contacts.h"
#include "guildhall/counters.h"
#include "guildhall/files.h"
#include "guildhall/fold.h"
#include "guildhall/geo.h"
#include "guildhall/guild.h"
#include "guildhall/lock.h"
#include "guildhall/mailbox.h"
#include "guildhall/message.h"
#include "guildhall/op.h"
#include "guildhall/platform.h"
#include "guildhall/replicas.h"
#include "guildhall/reply.h"
#include "guildhall/rows.h"
#include "guildhall/semaphore.h"
#include "guildhall/sentinel.h"
#include "guildhall/status.h"
#include "guildhall/tasks.h"
#include "guildhall/tasks_admin.h"
#include "guildhall/tasks_take.h"

#endif
