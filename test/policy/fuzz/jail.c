// Runs snippets of shell where they can do no harm: own mounts, processes and network, a root that
// has nothing but stubs in it and cannot be written, nobody's rights, and little of everything.
// usage: jail ROOT. In: u32 length, u8 mode, snippet. Out: u32 length, report, whose parts are
// u32 length and bytes: state (`exit N` or `timeout`), log, stderr, files written (NUL-ended).
// mode 1 starts bash with /env as BASH_ENV.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SNIPPET_MAX = 1 << 20, PART_MAX = 1 << 22, NOBODY = 65534, FIXTURE_TIME = 1000000000 };
enum { SHELL_MS = 700, STRAGGLERS_MS = 150 };

static char snippet[SNIPPET_MAX + 1];
static char part[PART_MAX];
static char report[4 * PART_MAX];
static size_t reported;

static void fail(const char *what) {
    fprintf(stderr, "jail: %s: %s\n", what, strerror(errno));
    exit(3);
}

static void put_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
    close(file);
}

static void become_root_of_own(uid_t uid, gid_t gid) {
    char map[64];
    if (unshare(CLONE_NEWUSER) != 0) fail("user namespace");
    int file = open("/proc/self/setgroups", O_WRONLY);
    if (file >= 0 && write(file, "deny", 4) < 0) fail("setgroups");
    close(file);
    snprintf(map, sizeof map, "0 %d 1", (int)uid);
    put_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %d 1", (int)gid);
    put_file("/proc/self/gid_map", map);
}

static void mount_on(const char *what, const char *root, const char *at, const char *type,
                     unsigned long flags, const char *options) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", root, at);
    if (mount(what, path, type, flags, options) != 0) fail(path);
}

static void enter(const char *root) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("private mounts");
    mount_on(root, root, "", NULL, MS_BIND, NULL);
    mount_on("/dev/null", root, "/dev/null", NULL, MS_BIND, NULL);
    mount_on("proc", root, "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    mount_on("tmpfs", root, "/w", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,nr_inodes=4000");
    mount_on(NULL, root, "", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, NULL);
    if (chroot(root) != 0 || chdir("/") != 0) fail("chroot");
    umask(0);
    if (mkdir("/w/l", 0733) != 0 || mkdir("/w/e", 0700) != 0) fail("/w");
}

static void own(const char *path) {
    struct timespec times[2] = {{FIXTURE_TIME, 0}, {FIXTURE_TIME, 0}};
    // Where only one user is mapped, it is already ours.
    if (lchown(path, NOBODY, NOBODY) != 0 && errno != EINVAL && errno != EPERM) fail(path);
    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0) fail(path);
}

static void fixture(const char *path, const char *text) {
    put_file(path, text);
    own(path);
}

static void remove_tree(const char *path) {
    DIR *dir = opendir(path);
    char child[4096];
    if (dir != NULL) {
        for (struct dirent *one = readdir(dir); one != NULL; one = readdir(dir)) {
            if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
            snprintf(child, sizeof child, "%s/%s", path, one->d_name);
            if (one->d_type == DT_DIR) remove_tree(child);
            else unlink(child);
        }
        closedir(dir);
    }
    rmdir(path);
}

// The same files for every snippet, so that globs find some and a file that changed is seen.
static void fresh(void) {
    static const char *const dirs[] = {"/w/p", "/w/h", "/w/t", "/w/p/src", "/w/p/evil", "/w/p/a b"};
    remove_tree("/w/p");
    remove_tree("/w/h");
    remove_tree("/w/t");
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        if (mkdir(dirs[i], 0777) != 0) fail(dirs[i]);
    }
    fixture("/w/p/a.txt", "touch\n");
    fixture("/w/p/b.txt", "one two\n");
    fixture("/w/p/script.sh", "touch from-script\n");
    fixture("/w/p/src/a.ts", "export {};\n");
    fixture("/w/p/src/b.ts", "export {};\n");
    fixture("/w/p/a b/c.txt", "x\n");
    fixture("/w/h/.bashrc", "# mine\n");
    static const char *const fakes[] = {"/w/p/evil/git", "/w/p/evil/ls", "/w/p/evil/cat",
                                        "/w/p/git"};
    for (size_t i = 0; i < sizeof fakes / sizeof *fakes; i++) {
        if (symlink("/bin/touch", fakes[i]) != 0) fail(fakes[i]);
        own(fakes[i]);
    }
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) own(dirs[i]);
    put_file("/w/l/log", "");
    if (chmod("/w/l/log", 0622) != 0) fail("log");
    put_file("/w/e/err", "");
}

static void limit(int what, rlim_t most) {
    struct rlimit value = {most, most};
    setrlimit(what, &value);
}

static void start(int mode) {
    static char *const plain[] = {"PATH=/bin", "HOME=/w/h", "LANG=C.UTF-8", "USER=u", NULL};
    static char *const told[] = {"PATH=/bin", "HOME=/w/h", "LANG=C.UTF-8", "USER=u",
                                 "BASH_ENV=/env", NULL};
    char *words[] = {"bash", "-c", snippet, NULL};
    int null = open("/dev/null", O_RDWR);
    int err = open("/w/e/err", O_WRONLY | O_APPEND);
    setsid();
    dup2(null, 0);
    dup2(null, 1);
    dup2(err, 2);
    close(null);
    close(err);
    limit(RLIMIT_CPU, 2);
    limit(RLIMIT_FSIZE, 1 << 20);
    limit(RLIMIT_AS, 512 << 20);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 200);
    limit(RLIMIT_NOFILE, 64);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setgroups(0, NULL) != 0 && errno != EPERM) _exit(125);
    if (setgid(NOBODY) != 0 && errno != EINVAL) _exit(125);
    if (setuid(NOBODY) != 0 && errno != EINVAL) _exit(125);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (chdir("/w/p") != 0) _exit(125);
    umask(022);
    execve("/.r/bash", words, mode == 1 ? told : plain);
    _exit(125);
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Waits for children until `pid` (0: all of them) is gone; false when the time is up before.
static int reap(pid_t pid, long until, int *status) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int one = 0;
        pid_t gone = waitpid(-1, &one, WNOHANG);
        if (gone < 0) return 1;
        if (gone > 0 && gone == pid) {
            *status = one;
            return 1;
        }
        if (gone > 0) continue;
        long left = until - now_ms();
        if (left <= 0) return 0;
        struct timespec wait = {left / 1000, (left % 1000) * 1000000};
        sigtimedwait(&child, NULL, &wait);
    }
}

static void add_part(const char *bytes, size_t length) {
    uint32_t size = (uint32_t)length;
    memcpy(report + reported, &size, sizeof size);
    memcpy(report + reported + sizeof size, bytes, length);
    reported += sizeof size + length;
}

static void add_contents(const char *path, size_t most) {
    int file = open(path, O_RDONLY);
    ssize_t got = file < 0 ? 0 : read(file, part, most);
    if (file >= 0) close(file);
    add_part(part, got < 0 ? 0 : (size_t)got);
}

static size_t list_written(const char *path, size_t at) {
    DIR *dir = opendir(path);
    char child[4096];
    struct stat facts;
    if (dir == NULL) return at;
    for (struct dirent *one = readdir(dir); one != NULL; one = readdir(dir)) {
        if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
        snprintf(child, sizeof child, "%s/%s", path, one->d_name);
        if (lstat(child, &facts) != 0) continue;
        if (S_ISDIR(facts.st_mode)) at = list_written(child, at);
        else if (facts.st_mtime != FIXTURE_TIME && at + strlen(child) + 1 < PART_MAX) {
            memcpy(part + at, child, strlen(child) + 1);
            at += strlen(child) + 1;
        }
    }
    closedir(dir);
    return at;
}

static void run_one(int mode) {
    char state[32];
    int status = 0;
    fresh();
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) start(mode);
    int ended = reap(pid, now_ms() + SHELL_MS, &status);
    if (ended) reap(0, now_ms() + STRAGGLERS_MS, &status);
    // We are the first process of this namespace: everybody else goes.
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0) continue;
    if (!ended) snprintf(state, sizeof state, "timeout");
    else if (WIFEXITED(status)) snprintf(state, sizeof state, "exit %d", WEXITSTATUS(status));
    else snprintf(state, sizeof state, "signal %d", WTERMSIG(status));
    reported = sizeof(uint32_t);
    add_part(state, strlen(state));
    add_contents("/w/l/log", PART_MAX);
    add_contents("/w/e/err", 600);
    size_t length = list_written("/w/p", 0);
    length = list_written("/w/h", length);
    length = list_written("/w/t", length);
    add_part(part, length);
    uint32_t size = (uint32_t)(reported - sizeof size);
    memcpy(report, &size, sizeof size);
    if (fwrite(report, 1, reported, stdout) != reported || fflush(stdout) != 0) exit(0);
}

static void serve(void) {
    uint32_t length;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        int mode = getchar();
        if (length > SNIPPET_MAX || fread(snippet, 1, length, stdin) != length) return;
        snippet[length] = '\0';
        run_one(mode);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (uid != 0) become_root_of_own(uid, gid);
    if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) {
        fail("namespaces");
    }
    pid_t first = fork();
    if (first < 0) fail("fork");
    if (first == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        enter(argv[1]);
        serve();
        exit(0);
    }
    int status = 0;
    waitpid(first, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
