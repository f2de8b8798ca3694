/* SPDX-License-Identifier: MIT
 * PID 1 of a proxy container. */
int main(void)
{
    return 1;
}
