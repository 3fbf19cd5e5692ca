/* What a shell is called with, which program it really is, and the environment as the user has it:
 * a command must not see that we stand in between. */
#include "sh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 16384

extern char **environ;

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static bool copy(char *to, size_t size, const char *from) {
  return (size_t)snprintf(to, size, "%s", from) < size;
}

/* One line of the file: a key, a blank, a value. */
static void take_line(struct installation *here, char *line) {
  char *value = strchr(line, ' ');
  if (value == NULL) return;
  *value++ = '\0';
  if (strcmp(line, "node") == 0) copy(here->node, sizeof here->node, value);
  if (strcmp(line, "cuff") == 0) copy(here->cuff, sizeof here->cuff, value);
  if (strcmp(line, "strict") == 0) here->strict = strcmp(value, "yes") == 0;
  if (strcmp(line, "enforced") == 0) here->enforced = strcmp(value, "yes") == 0;
  if (strcmp(line, "helper-ms") == 0) here->helper_ms = atoi(value);
  if (strcmp(line, "hello-ms") == 0) here->hello_ms = atoi(value);
  if (strcmp(line, "idle-ms") == 0) copy(here->idle_ms, sizeof here->idle_ms, value);
  if (strcmp(line, "variable") == 0 && here->variable_count < SH_VARIABLES_MAX &&
      copy(here->variables[here->variable_count], SH_NAME_MAX, value))
    here->variable_count++;
}

#define HELPER_MS 15000 /* a loaded machine takes seconds; a helper that is stuck never ends */
#define HELLO_MS 250    /* a helper that stays answers within one; a start of Node takes 30 */

static void read_installation(struct installation *here) {
  char path[PATH_MAX + 16], text[FILE_MAX], *rest = text;
  here->helper_ms = HELPER_MS;
  here->hello_ms = HELLO_MS;
  snprintf(path, sizeof path, "%s/client", here->shells);
  ssize_t n = read_file(path, text, sizeof text);
  if (n <= 0) return;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
    take_line(here, line);
}

/* Whether we are a shell, and which: by the name of the file that we are. */
bool find_installation(struct installation *here, const char **name) {
  ssize_t n = readlink("/proc/self/exe", here->self, sizeof here->self - 1);
  if (n <= 0) return false;
  here->self[n] = '\0';
  *name = base_of(here->self);
  if (strcmp(*name, "bash") != 0 && strcmp(*name, "zsh") != 0) return false;
  if (!copy(here->shells, sizeof here->shells, here->self)) return false;
  *strrchr(here->shells, '/') = '\0';
  if (!copy(here->root, sizeof here->root, here->shells)) return false;
  char *slash = strrchr(here->root, '/');
  if (slash != NULL) *slash = '\0';
  read_installation(here);
  return true;
}

/* `--rcfile FILE` and the like; bash takes them with one dash, too. */
static bool takes_value(const char *option) {
  const char *name = option + (option[1] == '-' ? 2 : 1);
  return *option == '-' && (strcmp(name, "rcfile") == 0 || strcmp(name, "init-file") == 0);
}

/* As bash and zsh read them: -c is one of the letters of any word, its text is the first word that
 * is no option. */
void parse_shell_options(struct call *c, int argc, char **argv) {
  bool has_text = false;
  int i = 1;
  for (; i < argc; i++) {
    const char *word = argv[i];
    if (*word != '-' && *word != '+') break;
    if (strcmp(word, "--") == 0 || strcmp(word, "-") == 0) { /* both end the options */
      i++;
      break;
    }
    if (takes_value(word)) {
      i++;
      continue;
    }
    if (word[0] == '-' && word[1] == '-') continue;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
      if (*letter == 'c' && *word == '-') has_text = true;
      if (*letter == 'i' && *word == '-') c->interactive = true;
      if (*letter == 'o' || *letter == 'O') i++; /* its name is a word of its own */
    }
  }
  c->text = has_text && i < argc ? argv[i] : NULL;
}

static bool is_program(const char *path, const struct installation *here) {
  struct stat ours, theirs;
  if (stat(path, &theirs) != 0 || !S_ISREG(theirs.st_mode) || access(path, X_OK) != 0) return false;
  return stat(here->self, &ours) != 0 || ours.st_dev != theirs.st_dev ||
         ours.st_ino != theirs.st_ino;
}

static bool in_path(struct call *c, const struct installation *here) {
  const char *from = getenv("PATH");
  while (from != NULL && *from != '\0') {
    size_t length = strcspn(from, ":");
    size_t own = strlen(here->shells);
    bool ours = length == own && strncmp(from, here->shells, own) == 0;
    if (*from == '/' && !ours && length + strlen(c->name) + 2 <= sizeof c->real) {
      snprintf(c->real, sizeof c->real, "%.*s/%s", (int)length, from, c->name);
      if (is_program(c->real, here)) return true;
    }
    from += length;
    if (*from == ':') from++;
  }
  return false;
}

/* Whether we are found by PATH: then the next one in it is what the agent would have found. */
static bool is_in_path(const struct installation *here) {
  const char *path = getenv("PATH");
  size_t own = strlen(here->shells);
  for (const char *at = path; at != NULL; at = strchr(at, ':')) {
    if (*at == ':') at++;
    if (strncmp(at, here->shells, own) == 0 && (at[own] == ':' || at[own] == '\0')) return true;
  }
  return false;
}

/* The user's own, else the one where systems have it: agents that start a shell by its path take
 * these, and the path stands in front of the shell's messages. */
static bool in_places(struct call *c, const struct installation *here) {
  const char *theirs = getenv("CUFF_USER_SHELL");
  if (theirs == NULL) theirs = getenv("SHELL");
  bool fits = theirs != NULL && *theirs == '/' && strcmp(strrchr(theirs, '/') + 1, c->name) == 0;
  if (fits && copy(c->real, sizeof c->real, theirs) && is_program(c->real, here)) return true;
  static const char *const PLACES[] = {"/bin", "/usr/bin", "/usr/local/bin"};
  for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
    snprintf(c->real, sizeof c->real, "%s/%s", PLACES[i], c->name);
    if (is_program(c->real, here)) return true;
  }
  return false;
}

/* The one that the agent would have started without us. */
bool find_real_shell(struct call *c, const struct installation *here) {
  const char *named = getenv("CUFF_REAL_SHELL");
  if (named != NULL && *named == '/' && copy(c->real, sizeof c->real, named) &&
      is_program(c->real, here))
    return true;
  if (is_in_path(here) ? in_path(c, here) || in_places(c, here)
                       : in_places(c, here) || in_path(c, here))
    return true;
  return copy(c->real, sizeof c->real, "/bin/bash") && is_program(c->real, here);
}

static const char *value_of(const char *variable, const char *name) {
  size_t length = strlen(name);
  bool same = strncmp(variable, name, length) == 0 && variable[length] == '=';
  return same ? variable + length + 1 : NULL;
}

/* Whether a value is a file of ours, `name` below the state root. */
static bool is_ours(const char *value, const struct installation *here, const char *name) {
  size_t length = strlen(here->root);
  return strncmp(value, here->root, length) == 0 && value[length] == '/' &&
         strncmp(value + length + 1, name, strlen(name)) == 0;
}

static char *assignment(const char *name, const char *value) {
  size_t size = strlen(name) + strlen(value) + 2;
  char *made = malloc(size);
  if (made != NULL) snprintf(made, size, "%s=%s", name, value);
  return made;
}

/* PATH without our directory; the same text if it is not in there. */
static char *plain_path(char *variable, const struct installation *here) {
  size_t own = strlen(here->shells);
  if (strstr(variable, here->shells) == NULL) return variable;
  char *made = malloc(strlen(variable) + 1), *to = made;
  if (made == NULL) return variable;
  const char *from = variable + 5;
  to += sprintf(to, "PATH=");
  for (bool first = true;; from++) {
    size_t length = strcspn(from, ":");
    if (length != own || strncmp(from, here->shells, own) != 0) {
      to += sprintf(to, "%s%.*s", first ? "" : ":", (int)length, from);
      first = false;
    }
    from += length;
    if (*from == '\0') return made;
  }
}

/* What a variable that names a file of ours was before, where that is known. */
struct stand_in {
  const char *name, *file, *before;
};

static const struct stand_in STAND_INS[] = {
    {"BASH_ENV", "bash-env", "CUFF_USER_BASH_ENV"},
    {"ZDOTDIR", "zdotdir", "CUFF_USER_ZDOTDIR"},
    {"SHELL", "shells/", "CUFF_USER_SHELL"},
    {"CLAUDE_CODE_SHELL", "shells/", NULL},
    {"GOOSE_SHELL", "shells/", NULL},
    {"_", "shells/", NULL},
};

static const char *const OURS[] = {"CUFF_INSIDE",       "CUFF_REAL_SHELL", "CUFF_USER_BASH_ENV",
                                   "CUFF_USER_ZDOTDIR", "CUFF_USER_SHELL", "CUFF_AGENT",
                                   "CUFF_WRAPPED"};

/* The variable as the user has it; NULL if it is only ours. */
static char *as_user_has(char *variable, const struct call *c, const struct installation *here) {
  for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
    if (value_of(variable, OURS[i]) != NULL) return NULL;
  if (value_of(variable, "PATH") != NULL) return plain_path(variable, here);
  for (size_t i = 0; i < sizeof STAND_INS / sizeof *STAND_INS; i++) {
    const struct stand_in *one = &STAND_INS[i];
    const char *value = value_of(variable, one->name);
    if (value == NULL || !is_ours(value, here, one->file)) continue;
    const char *before = one->before == NULL ? NULL : getenv(one->before);
    if (before != NULL && *before != '\0') return assignment(one->name, before);
    bool real = strcmp(one->name, "SHELL") == 0 || strcmp(one->name, "_") == 0;
    return real ? assignment(one->name, c->real) : NULL;
  }
  return variable;
}

/* A text of CLAUDE_ENV_FILE asks for this variable and takes it out of the environment. */
static bool has_guard(const struct call *c) {
  return c->text != NULL && strstr(c->text, "]; then unset CUFF_INSIDE") != NULL;
}

/* Whether the real shell would call us again: its BASH_ENV, or ZDOTDIR, is our file, which sends
 * every text of -c here unless the guard is set, and takes the guard out of the environment. */
bool comes_back(const struct call *c, const struct installation *here) {
  bool zsh = strcmp(c->name, "zsh") == 0;
  const char *value = getenv(zsh ? "ZDOTDIR" : "BASH_ENV");
  return c->text != NULL && value != NULL && is_ours(value, here, zsh ? "zdotdir" : "bash-env");
}

/* NULL without memory. */
char **user_environment(const struct call *c, const struct installation *here) {
  int count = 0, kept = 0;
  while (environ[count] != NULL) count++;
  char **made = calloc((size_t)count + 2, sizeof *made);
  if (made == NULL) return NULL;
  for (int i = 0; i < count; i++) {
    char *variable = as_user_has(environ[i], c, here);
    if (variable != NULL) made[kept++] = variable;
  }
  static char guard[] = "CUFF_INSIDE=1";
  if (has_guard(c)) made[kept++] = guard;
  return made;
}
