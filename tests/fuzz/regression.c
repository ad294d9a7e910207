/* Runs a fuzz target over files and folders of files, with any compiler: `program PATH...`. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t n_run;

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    size_t n = 0, cap = 1 << 16;
    uint8_t *data = malloc(cap);
    FUZZ_CHECK(data != NULL);
    for (size_t got; (got = fread(data + n, 1, cap - n, file)) > 0;) {
        n += got;
        if (n == cap) {
            cap *= 2;
            data = realloc(data, cap);
            FUZZ_CHECK(data != NULL);
        }
    }
    fclose(file);
    /* Exactly as large as the input, as libFuzzer has it. */
    uint8_t *exact = fuzz_array(n, 1);
    memcpy(exact, data, n);
    free(data);
    /* Named first: when the target stops the program, this is the last line. */
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    n_run++;
}

static void run(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        run_file(path);
        return;
    }
    DIR *folder = opendir(path);
    FUZZ_CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        FUZZ_CHECK(length > 0 && (size_t)length < sizeof name);
        if (entry->d_name[0] != '.')
            run(name);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    printf("%zu inputs passed\n", n_run);
    return n_run == 0;
}
