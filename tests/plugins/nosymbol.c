/* nosymbol.c - a library that is no plug-in. */
int zmpi_not_a_plugin(void);

int zmpi_not_a_plugin(void)
{
    return 0;
}
