/**
 * Variables of this repository's tests, benchmarks and scripts. The product may run in a shell that sets them.
 */
const ofTests = /^KEYLEDGER_(?:TEST_|BENCH_|FUZZ_RUNS$|PICTURES$|CHAOS_)/

/** Kubernetes and old Docker links set variables named after services, including one called keyledger. */
const serviceLink =
  /^KEYLEDGER_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/
const linkedAddress = /^(?:tcp|udp|sctp):\/\//

const isServiceLink = (name: string, value: string): boolean =>
  serviceLink.test(name) || (/^KEYLEDGER_\w+_PORT$/.test(name) && linkedAddress.test(value))

/**
 * Finds unknown variables that start with `KEYLEDGER_`, each with the most similar known name, if one is
 * similar enough.
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): { name: string; nearest: string | undefined }[] {
  return Object.entries(environment)
    .filter(
      ([name, value = '']) =>
        name.startsWith('KEYLEDGER_') &&
        !known.includes(name) &&
        !ofTests.test(name) &&
        !isServiceLink(name, value),
    )
    .map(([name]) => ({ name, nearest: nearestOf(name, known) }))
}

/** The known name with the fewest edits, if at most a third of the letters differ. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const prefix = 'KEYLEDGER_'.length
  const word = name.slice(prefix)
  const [best] = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate.slice(prefix)) }))
    .sort((a, b) => a.edits - b.edits)
  return best && best.edits <= Math.max(2, word.length / 3) ? best.candidate : undefined
}

/** An abbreviated name counts as one edit. */
const distance = (from: string, to: string): number =>
  to.startsWith(`${from}_`) ? 1 : editsBetween(from, to)

/** The number of letters to insert, remove, replace, or swap with a neighbor. */
export function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const edits = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwapped ? [(beforeLast[column - 2] ?? 0) + 1] : []),
      ]
      current.push(Math.min(...edits))
    }
    beforeLast = last
    last = current
  }
  return last[to.length] ?? 0
}
