/* A file system that stops answering: `hung-mount DIR` mounts one with the single file `file`,
 * prints `mounted`, and reads lines. After `hang` it prints `hung`, takes every further request and
 * answers none, as a dead NFS server does. It ends, and lets everybody go, when its input ends. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2

static const char TEXT[] = "hello\n";
static int device;

static void answer(uint64_t unique, int error, const void *data, size_t length) {
  static char out[8192];
  struct fuse_out_header head = {.len = (uint32_t)(sizeof head + length), .error = -error,
                                 .unique = unique};
  memcpy(out, &head, sizeof head);
  if (length > 0) memcpy(out + sizeof head, data, length);
  if (write(device, out, head.len) < 0 && errno != ENOENT) perror("hung-mount: answer");
}

/* Valid for no time at all: whoever asks, asks us. */
static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr a = {.ino = node, .nlink = 1, .blksize = 4096};
  a.mode = node == FILE_NODE ? S_IFREG | 0644 : S_IFDIR | 0755;
  a.size = node == FILE_NODE ? sizeof TEXT - 1 : 0;
  return a;
}

static void lookup(const struct fuse_in_header *in, const char *name) {
  struct fuse_entry_out out = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE)};
  if (strcmp(name, "file") == 0) answer(in->unique, 0, &out, sizeof out);
  else answer(in->unique, ENOENT, NULL, 0);
}

static void serve(const struct fuse_in_header *in, const char *body) {
  struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
  struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
  struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
                               .max_write = 4096};
  const struct fuse_read_in *read = (const void *)body;
  switch (in->opcode) {
    case FUSE_INIT: return answer(in->unique, 0, &init, sizeof init);
    case FUSE_LOOKUP: return lookup(in, body);
    case FUSE_GETATTR: return answer(in->unique, 0, &attr, sizeof attr);
    case FUSE_OPEN:
    case FUSE_OPENDIR: return answer(in->unique, 0, &opened, sizeof opened);
    case FUSE_READ:
      if (read->offset > 0) return answer(in->unique, 0, NULL, 0);
      return answer(in->unique, 0, TEXT, sizeof TEXT - 1);
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR: return answer(in->unique, 0, NULL, 0);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET: return;
    /* Among them FLUSH: the kernel does not ask again, so that a close never waits for us. */
    default: return answer(in->unique, ENOSYS, NULL, 0);
  }
}

int main(int argc, char **argv) {
  static _Alignas(8) char request[FUSE_MIN_READ_BUFFER + 65536];
  char options[128];
  int hung = 0;
  device = argc == 2 ? open("/dev/fuse", O_RDWR | O_CLOEXEC) : -1;
  if (device < 0) return perror("hung-mount: /dev/fuse"), 1;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device,
           (int)getuid(), (int)getgid());
  if (mount("cuff-test", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
    return perror("hung-mount: mount"), 1;
  puts("mounted");
  fflush(stdout);
  struct pollfd p[2] = {{.fd = device, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
  while (poll(p, 2, -1) > 0 || errno == EINTR) {
    if (p[1].revents) {
      if (read(0, options, sizeof options) <= 0) break;
      hung = 1;
      puts("hung");
      fflush(stdout);
    }
    if (!p[0].revents) continue;
    ssize_t n = read(device, request, sizeof request);
    if (n < 0 && errno == ENODEV) break;
    const struct fuse_in_header *in = (const void *)request;
    if (n >= (ssize_t)sizeof *in && !hung) serve(in, request + sizeof *in);
  }
  return umount2(argv[1], MNT_DETACH) != 0;
}
