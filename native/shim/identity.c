/* The pid of this process as the recorder counts. /proc counts in the pid namespace that it was
 * mounted for (proc(5)): where that is the recorder's, /proc/self/stat has the right number even if
 * getpid() gives another one. A process with a /proc of its own namespace is known by its own pid
 * and the inode of that namespace. */
#include "shim.h"

static uint64_t number_at(const char **text) {
  uint64_t value = 0;
  while (**text >= '0' && **text <= '9') value = value * 10 + (uint64_t)(*(*text)++ - '0');
  return value;
}

static int read_facts(void *about) {
  struct proc_facts *to = about;
  enum { AFTER_NAME_PARENT = 1, AFTER_NAME_START = 19 };
  char text[480]; /* 52 numbers; the ones behind the 22nd may be cut */
  int fd = sys_open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  struct sys_stat st;
  if (sys_fstat(fd, &st) == 0) to->device = (uint32_t)st.device;
  ssize_type length = sys_read(fd, text, sizeof text - 1);
  sys_close(fd);
  if (length <= 0) return (int)length;
  text[length] = 0;
  const char *at = text, *name_end = NULL;
  to->pid = (uint32_t)number_at(&at);
  for (ssize_type i = 0; i < length; i++)
    if (text[i] == ')') name_end = text + i; /* a name may contain anything */
  if (name_end == NULL || name_end[1] == 0) return 0;
  at = name_end + 2;
  for (int field = 0; *at != 0; field++) {
    if (field == AFTER_NAME_PARENT) to->parent = (uint32_t)number_at(&at);
    if (field == AFTER_NAME_START) to->start_ticks = number_at(&at);
    while (*at != 0 && *at != ' ') at++;
    if (*at == ' ') at++;
  }
  return 0;
}

static void proc_look(struct proc_facts *to) {
  *to = (struct proc_facts){0, 0, 0, 0};
  shim_apart(read_facts, to, -1);
}

/* The inode of the pid namespace, 0 if it cannot be known. */
static uint32_t own_namespace(void) {
  char text[40]; /* pid:[4026531836] */
  ssize_type length = sys_readlink("/proc/self/ns/pid", text, sizeof text - 1);
  if (length <= 0) return 0;
  text[length] = 0;
  const char *at = text;
  while (*at != 0 && *at != '[') at++;
  return *at == 0 ? 0 : (at++, (uint32_t)number_at(&at));
}

static void resolve(struct identity *to, const struct proc_facts *facts, uint32_t own) {
  int at_home = facts->device != 0 && facts->device == shim.proc_device;
  *to = (struct identity){.pid = facts->pid != 0 ? facts->pid : own};
  if (facts->pid == 0 || (facts->pid == own && at_home)) return;
  uint32_t space = own_namespace();
  if (facts->pid != own) to->inner_pid = own, to->inner_space = space;
  else if (space != shim.pid_namespace) to->space = space;
}

/* A child of the process that `shim` describes is in the same pid namespace, which spares a look at
 * /proc in every fork. Not so where getppid() gives another number: 0 where the parent is in an
 * outer namespace, or the pid of a process that was cloned past us into a namespace of its own
 * (bwrap), in which pids begin at 1 again. */
static int counts_as_parent(void) { return shim.inner_pid == 0 && sys_getppid() == shim.own_pid; }

static void remember(const struct identity *self, int own) {
  shim.pid = self->pid, shim.space = self->space;
  shim.inner_pid = self->inner_pid, shim.inner_space = self->inner_space;
  shim.own_pid = own;
}

void identity_learn(struct proc_facts *facts) {
  struct identity self;
  int own = sys_getpid();
  if (shim.told_pid == (uint32_t)own) {
    *facts = (struct proc_facts){.pid = shim.told_pid, .parent = (uint32_t)sys_getppid()};
    self = (struct identity){.pid = shim.told_pid, .space = shim.told_space};
    remember(&self, own);
    return;
  }
  proc_look(facts);
  resolve(&self, facts, (uint32_t)own);
  remember(&self, own);
}

void identity_learn_forked(struct proc_facts *facts) {
  shim.told_pid = 0;
  if (!counts_as_parent()) {
    struct identity parent = {shim.pid, shim.space, shim.inner_pid, shim.inner_space};
    identity_learn(facts);
    /* Where the parent has ended already (daemon), /proc names the reaper instead. */
    if (parent.space == shim.space && parent.inner_pid == 0 && shim.inner_pid == 0)
      facts->parent = parent.pid;
    return;
  }
  int own = sys_getpid();
  *facts = (struct proc_facts){.pid = (uint32_t)own, .parent = shim.pid};
  struct identity self = {.pid = (uint32_t)own, .space = shim.space};
  remember(&self, own);
}

static NOINLINE void look_up_self(struct identity *to, uint32_t own) {
  struct proc_facts facts;
  proc_look(&facts);
  resolve(to, &facts, own);
}

void shim_identity(struct identity *to) {
  int own = sys_getpid();
  if (LIKELY(own == shim.own_pid))
    *to = (struct identity){shim.pid, shim.space, shim.inner_pid, shim.inner_space};
  else if (counts_as_parent())
    *to = (struct identity){.pid = (uint32_t)own, .space = shim.space};
  else
    look_up_self(to, (uint32_t)own);
}

uint32_t shim_thread(void) {
  struct identity self;
  char text[48]; /* PID/task/TID */
  shim_identity(&self);
  uint32_t thread = (uint32_t)sys_gettid();
  if (thread == (uint32_t)sys_getpid()) return self.pid;
  ssize_type length = sys_readlink("/proc/thread-self", text, sizeof text - 1);
  if (length <= 0) return thread;
  text[length] = 0;
  const char *at = text + length;
  while (at > text && at[-1] != '/') at--;
  return (uint32_t)number_at(&at);
}
