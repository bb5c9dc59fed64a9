import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Two halves of 8 MiB. */
const largestYoungBytes = 16 * 2 ** 20

/**
 * Lets the young generation of the heap grow, but not without limit. While it is small it is collected in the middle of most calls,
 * which moves what is about to end into the old generation; without a limit it takes 64 MiB and more, and no request is
 * faster for it. V8's own limit can only be set by the flags of the process, which is started without any, so the growth is
 * allowed and forbidden after each collection.
 * @see https://nodejs.org/api/v8.html#v8setflagsfromstringflags
 */
export function limitYoungGeneration(): void {
  const allow = () => {
    const factor = youngBytes() < largestYoungBytes ? 2 : 1
    setFlagsFromString(`--semi-space-growth-factor=${factor}`)
  }
  allow()
  new PerformanceObserver(allow).observe({ entryTypes: ['gc'] })
}

/**
 * Keeps the heap small, for a process that shall need little memory: its young generation stays as small as it is, and the old one is
 * collected before it has grown by a quarter.
 */
export const keepHeapSmall = (): void => {
  for (const flag of ['--semi-space-growth-factor=1', '--optimize-for-size', '--heap-growing-percent=20'])
    setFlagsFromString(flag)
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
