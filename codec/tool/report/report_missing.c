/* report_missing.c - zmpi report and zmpi advise in a build without cJSON. */
#include "tool/tool.h"

int tool_report(int argc, char **argv)
{
    (void)argc, (void)argv;
    return tool_fail("zmpi was built without cJSON (libcjson-dev)");
}

int tool_advise(int argc, char **argv)
{
    return tool_report(argc, argv);
}
