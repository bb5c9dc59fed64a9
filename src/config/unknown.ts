/**
 * Read by tests, benchmarks and scripts of this repository, and by nothing else: a shell in which they are set may still
 * run the product.
 */
const ofTests = /^KEYLEDGER_(?:TEST_|BENCH_|FUZZ_RUNS$|PICTURES$|CHAOS_)/

/** Kubernetes and old links of Docker set variables named after services, also after one called keyledger. */
const serviceLink =
  /^KEYLEDGER_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/
const linkedAddress = /^(?:tcp|udp|sctp):\/\//

const isServiceLink = (name: string, value: string): boolean =>
  serviceLink.test(name) || (/^KEYLEDGER_\w+_PORT$/.test(name) && linkedAddress.test(value))

/**
 * The variables that begin as keyledger's do and are none of its own, each with the known one that its name is nearest
 * to, if any is near enough to have been meant.
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

/** The known name with the fewest edits, if no more than a third of the letters differ. */
function nearestOf(name: string, known: readonly string[]): string | undefined {
  const prefix = 'KEYLEDGER_'.length
  const word = name.slice(prefix)
  const [best] = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate.slice(prefix)) }))
    .sort((a, b) => a.edits - b.edits)
  return best && best.edits <= Math.max(2, word.length / 3) ? best.candidate : undefined
}

/** A name that was not written to its end counts as one edit. */
const distance = (from: string, to: string): number =>
  to.startsWith(`${from}_`) ? 1 : editsBetween(from, to)

/** How many letters have to be put in, taken out, replaced or swapped with their neighbour. */
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
