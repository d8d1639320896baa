#!/usr/bin/env python3
"""Write the man pages and bash's completion from the commands' --help, the table of settings and the public headers.

    gen_man.py SOURCE BUILD_BIN OUT     SOURCE: this tree; BUILD_BIN: folder of zmpi and, where it was built, zmpi-perf

A page is OUT/NAME.SECTION; the completion is OUT/zmpi.bash. SOURCE/packaging/man has the words that no program says.
SOURCE_DATE_EPOCH, where it is set, dates the pages.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import textwrap


def said_by(*command):
    # The defaults, not the settings of whoever runs this.
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ZMPI_")}
    return subprocess.run(command, env=clean, text=True, check=True, stdout=subprocess.PIPE).stdout


def roff(text):
    """Text as troff takes it: no line of it is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def literal(text):
    return ".EX\n" + roff(text.expandtabs(8).strip("\n")) + "\n.EE"


def filled(text):
    """Lines that begin with a blank stay as they are, others are filled; an empty line ends a paragraph."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if re.search(r"^\s", block, re.M):
            out.append(literal(block))
        else: # what the program puts on a line of its own begins with an option or a word with a colon
            lines = block.split("\n")
            out.append("\n".join((".br\n" if i and re.match(r"-|[A-Z]+:", line) else "") + roff(line)
                                 for i, line in enumerate(lines)))
    return "\n.PP\n".join(out)


class Pages:
    def __init__(self, out, version):
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        day = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc) if epoch else datetime.datetime.now()
        self.date = day.strftime("%Y-%m-%d")
        self.out = out
        self.version = version
        self.names = []

    def write(self, name, section, brief, sections):
        lines = [f'.TH {roff(name.upper())} {section} {self.date} "zmpi {self.version}" zmpi',
                 ".SH NAME", f"{roff(name)} \\- {roff(brief)}"]
        for title, body in sections:
            lines += [f".SH {title}", body]
        (self.out / f"{name}.{section}").write_text("\n".join(lines) + "\n")
        self.names.append(f"{name}({section})")


def see_also(*names):
    words = [re.fullmatch(r"(.*)\((.)\)", n).groups() for n in names]
    return "\n".join(f".BR {roff(name)} ({section})" + (" ," if i + 1 < len(words) else "")
                     for i, (name, section) in enumerate(words))


EXIT = "0: fine; 1: differences or damage were found; 2: wrong usage or failure."


def brief_of(description):
    """A few words of what a command does: its first sentence, up to a colon or comma."""
    first = re.split(r"[.:(](?:\s|$)|\s\(", " ".join(description.split()))[0].rstrip(".")
    if len(first) > 90 and ", " in first[:90]:
        first = first[:90].rsplit(", ", 1)[0]
    return textwrap.shorten(first[:1].lower() + first[1:], 100, placeholder=" ...")


def command_pages(pages, zmpi):
    overview = said_by(zmpi, "--help")
    commands = dict(re.findall(r"^  zmpi (\w+) +(.*)", overview, re.M))
    options = {}
    for name in commands:
        usage, _, description = said_by(zmpi, name, "--help").partition("\n\n")
        usage = re.sub(r"^usage: ", "", usage)
        description, _, example = description.partition("\n\nExample:\n\n")
        options[name] = sorted(set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", usage + description)) - {"-x"})
        sections = [("SYNOPSIS", filled(usage)), ("DESCRIPTION", filled(description))]
        if not re.search(r"Exit status", description):
            sections.append(("EXIT STATUS", EXIT))
        sections.append(("EXAMPLES", literal(textwrap.dedent(example))))
        pages.write(f"zmpi-{name}", 1, brief_of(description),
                    sections + [("SEE ALSO", see_also("zmpi(1)", "libzmpi(7)", "zmpi.conf(5)"))])
    table = "\n".join(f".TP\n.BR zmpi\\-{c} (1)\n{roff(brief)}." for c, brief in commands.items())
    pages.write("zmpi", 1, re.match(r"zmpi [\d.]+: (.*)", overview)[1],
                [("SYNOPSIS", ".B zmpi\n.I COMMAND ..."), ("COMMANDS", table),
                 ("DESCRIPTION", "The tool needs no MPI. A page for each command tells more, as does\n.BR \"zmpi COMMAND \\-\\-help\" .\n"
                  "A file \\- is standard input or output.\n.PP\nThe user guide, all other documents, and examples are in share/doc/zmpi of"
                  " the installation: docs/guide.md is first.\nOn Debian the package zmpi\\-doc has them."),
                 ("EXIT STATUS", EXIT),
                 ("SEE ALSO", see_also(*(f"zmpi-{c}(1)" for c in commands), "libzmpi(7)", "zmpi.conf(5)"))])
    return options


def settings_pages(pages, zmpi, words):
    """libzmpi(7) and zmpi.conf(5): the words of packaging/man, with the table of settings in them."""
    found = re.findall(r"^(ZMPI_\w+)(?:  \(hint (\w+)\))?\n    (.*)\n    type (\w+), default (.*)\n",
                       said_by(zmpi, "options"), re.M)
    for name in ("libzmpi.7", "zmpi.conf.5"):
        table = []
        for variable, hint, text, kind, default in found:
            if name.startswith("zmpi.conf"):
                variable = variable[len("ZMPI_"):].lower()
            hint = f"; hint {hint}" if hint else ""
            table.append(f".TP\n.B {roff(variable)}\n{roff(text[0].upper() + text[1:])}.\n.br\n"
                         + roff(f"Type {kind}{hint}; default: " + default.replace(",", ", ")) + ".")
        text = (words / (name + ".in")).read_text()
        brief, _, text = text.partition("\n")
        sections = [(title, body.strip("\n")) for title, body in re.findall(r"^\.SH (.*)\n((?:(?!\.SH ).*\n)*)", text, re.M)]
        sections = [(title, body.replace("@SETTINGS@", "\n".join(table))) for title, body in sections]
        stem, section = name.rsplit(".", 1)
        pages.write(stem, int(section), brief, sections)


def header_page(pages, header):
    """The comment that a header begins with, and its declarations with theirs."""
    comment, _, rest = header.read_text().partition("*/\n")
    comment = re.sub(r"^(/\*| \* ?)", "", comment, flags=re.M).strip()
    brief, _, description = comment.partition("\n\n")
    brief = brief.split(" - ", 1)[1].split(".")[0]
    rest = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", rest, flags=re.M | re.S)
    rest = re.sub(r"^#(ifndef|define|endif) ?(/\* )?\w+_H\b.*\n|^#endif\n\Z|ZMPI_API (?! )", "", rest, flags=re.M)
    library = "-lzmpi -lzmpi_codec" if header.name == "zmpi.h" else "-lzmpi_codec"
    pages.write(header.name, 3, " ".join(brief.split()),
                [("SYNOPSIS", f".B #include <{header.name}>\n.PP\nLink with {roff(library)}."),
                 ("DESCRIPTION", filled(description)),
                 ("DECLARATIONS", literal(re.sub(r"\n{3,}", "\n\n", rest))),
                 ("SEE ALSO", see_also("zmpi(1)", "libzmpi(7)"))])


def perf_page(pages, perf):
    usage, _, text = said_by(perf, "--help").partition("\n")
    brief, _, options = text.partition("\n")
    pages.write("zmpi-perf", 1, "measure MPI operations plain and through zmpi",
                [("SYNOPSIS", roff(usage.replace("usage: ", ""))), ("DESCRIPTION", roff(brief)),
                 ("OPTIONS", literal(textwrap.dedent(options))), ("SEE ALSO", see_also("zmpi(1)", "libzmpi(7)"))])


def completion(options, names):
    cases = "\n".join(f"        {name}) options='{' '.join(words)}' ;;" for name, words in options.items())
    return f"""# bash completion for zmpi; made by gen_man.py of zmpi's sources
_zmpi() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '{' '.join(options)} help --help --version' -- "$current")
        return
    fi
    case $previous in
        --codec) mapfile -t COMPREPLY < <(compgen -W 'fle huffman interp interp:huffman interp:flare auto' -- "$current"); return ;;
        --mpi) mapfile -t COMPREPLY < <(compgen -W 'openmpi mpich abi' -- "$current"); return ;;
        -t) mapfile -t COMPREPLY < <(compgen -W 'f32 f64' -- "$current"); return ;;
        -e) mapfile -t COMPREPLY < <(compgen -W 'rel= abs= pw_rel= psnr= ratio= lossless' -- "$current"); return ;;
        help) mapfile -t COMPREPLY < <(compgen -W '{' '.join(options)}' -- "$current"); return ;;
    esac
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ ${{COMP_WORDS[1]}} == options ]]; then
        mapfile -t COMPREPLY < <(compgen -W '{' '.join(names)}' -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}}
complete -F _zmpi zmpi
"""


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, programs, out = (pathlib.Path(a) for a in sys.argv[1:])
    zmpi = programs / "zmpi"
    out.mkdir(parents=True, exist_ok=True)
    pages = Pages(out, re.search(r"zmpi ([\d.]+)", said_by(zmpi, "--help"))[1])
    options = command_pages(pages, zmpi)
    settings_pages(pages, zmpi, source / "packaging/man")
    header_page(pages, source / "pmpi/zmpi.h")
    header_page(pages, source / "codec/zmpi_codec.h")
    header_page(pages, source / "codec/zmpi_reader.h")
    if (programs / "zmpi-perf").exists():
        perf_page(pages, programs / "zmpi-perf")
    names = [n[len("ZMPI_"):].lower() for n in re.findall(r"^(ZMPI_\w+)", said_by(zmpi, "options"), re.M)]
    (out / "zmpi.bash").write_text(completion(options, names))


main()
