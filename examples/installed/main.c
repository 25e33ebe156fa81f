#include <stdio.h>

#include <cubed/cubed.h>

int main(void)
{
    printf("libcubed %s\n", cubed_version());
    return 0;
}
