/* Compares memmove with a copy made byte by byte, for all short lengths and distances, and for some long ones. */

#include <stdio.h>
#include <string.h>

enum { LONGEST = 5000, FARTHEST = 300, ROOM = LONGEST + 2 * FARTHEST };

static unsigned char expected[ROOM], actual[ROOM], copy[ROOM];

static void fill(void)
{
    for (int i = 0; i < ROOM; i++) {
        expected[i] = actual[i] = (unsigned char)(i * 31 + i / 256);
    }
}

static int differs(const char *name, void *returned, void *destination, int length, int distance)
{
    if (returned == destination && memcmp(expected, actual, ROOM) == 0) {
        return 0;
    }
    printf("%s copies %d bytes wrong over a distance of %d\n", name, length, distance);
    return 1;
}

static int check(int length, int distance)
{
    fill();
    for (int i = 0; i < length; i++) copy[i] = expected[FARTHEST + i];
    for (int i = 0; i < length; i++) expected[FARTHEST + distance + i] = copy[i];
    unsigned char *to = actual + FARTHEST + distance;
    if (differs("memmove", memmove(to, actual + FARTHEST, length), to, length, distance)) {
        return 1;
    }
    fill();
    for (int i = 0; i < length; i++) expected[FARTHEST + i] = copy[i];
    to = actual + FARTHEST;
    return differs("memcpy", memcpy(to, copy, length), to, length, distance);
}

int main(void)
{
    int checks = 0;
    for (int length = 0; length <= LONGEST; length += length < 300 ? 1 : 517) {
        for (int distance = -FARTHEST; distance <= FARTHEST; distance++) {
            if (check(length, distance)) return 1;
            checks++;
        }
    }
    printf("%d checks\n", checks);
    return 0;
}
