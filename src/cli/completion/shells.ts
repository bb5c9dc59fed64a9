// cspell:ignore CWORD esac COMPREPLY compgen compdef funcstack
import type { Node } from './tree.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The completion script of a shell. */
export function completionScript(shell: Shell, nodes: readonly Node[]): string {
  return scripts[shell](nodes)
}

const scripts: Record<Shell, (nodes: readonly Node[]) => string> = { bash, zsh, fish }

/** Text in single quotes for bash and zsh. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
/** The same for fish, where a backslash is special inside them. */
const fishQuote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const pathsOf = (nodes: readonly Node[]) => nodes.map(({ path }) => path).filter((path) => path !== '')
const flag = ({ name }: { name: string }): string => `--${name}`

/** Each option with choices, as the words before its value. */
const choicesOf = (nodes: readonly Node[]) =>
  nodes.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => ({ at: `${path} --${name}`, choices })),
  )

function bash(nodes: readonly Node[]): string {
  const words = ({ commands, options }: Node) => [...commands.map(({ name }) => name), ...options.map(flag)]
  return `# Completion of keyledger for bash: source <(keyledger completion bash)
_keyledger() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' found='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${pathsOf(nodes).map(quote).join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${choicesOf(nodes)
  .map(({ at, choices }) => `    ${quote(at)}) found=${quote(choices.join(' '))} ;;`)
  .join('\n')}
  esac
  if [[ -z $found ]]; then
    case "$at" in
${nodes.map((node) => `      ${quote(node.path)}) found=${quote(words(node).join(' '))} ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _keyledger keyledger
`
}

function zsh(nodes: readonly Node[]): string {
  const entry = (name: string, help: string) => quote(`${name}:${help}`)
  const entries = ({ commands, options }: Node) => [
    ...commands.map(({ name, help }) => entry(name, help)),
    ...options.map(({ name, help }) => entry(`--${name}`, help)),
  ]
  return `#compdef keyledger
# Completion of keyledger for zsh: source <(keyledger completion zsh)
_keyledger() {
  local at='' i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      ${pathsOf(nodes).map(quote).join('|')}) at="$at $words[i]" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${choicesOf(nodes)
  .map(({ at, choices }) => `    ${quote(at)}) found=(${choices.map(quote).join(' ')}) ;;`)
  .join('\n')}
  esac
  if (( ! $#found )); then
    case "$at" in
${nodes.map((node) => `      ${quote(node.path)}) found=(${entries(node).join(' ')}) ;;`).join('\n')}
    esac
  fi
  _describe 'keyledger' found || _files
}
if [[ $funcstack[1] == _keyledger ]]; then
  _keyledger "$@"
else
  compdef _keyledger keyledger
fi
`
}

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const when = `-n ${fishQuote(`__keyledger_at ${fishQuote(path)}`)}`
    return [
      ...commands.map(
        ({ name, help }) => `complete -c keyledger ${when} -f -a ${fishQuote(name)} -d ${fishQuote(help)}`,
      ),
      ...options.map(({ name, help, takesValue, choices }) => {
        const values = choices.length > 0 ? ` -x -a ${fishQuote(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `complete -c keyledger ${when} -l ${fishQuote(name)}${values} -d ${fishQuote(help)}`
      }),
    ]
  })
  return `# Completion of keyledger for fish: keyledger completion fish | source
set -g __keyledger_paths ${pathsOf(nodes).map(fishQuote).join(' ')}
function __keyledger_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" $__keyledger_paths
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
