import { placesOf, programAt } from './debian.ts'

/** Prometheus' rule checker, installed if necessary; undefined when it cannot be installed. */
export function promtool(): string | undefined {
  try {
    return programAt(placesOf('promtool'), ['prometheus'], 'no promtool')
  } catch {
    return undefined
  }
}
