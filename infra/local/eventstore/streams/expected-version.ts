import type { ExpectedVersion } from '../engine/version-check.ts'
import { invalidArgument } from '../wire/errors.ts'
import { parseUint64 } from '../wire/numbers.ts'

/** What the options of all writing RPCs have in common, except how they call an exact revision. */
interface VersionOptions {
  hasAny(): boolean
  hasNoStream(): boolean
  hasStreamExists(): boolean
}

export function parseExpectedVersion(options: VersionOptions, exact: string | undefined): ExpectedVersion {
  if (exact !== undefined) return parseUint64(exact)
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasStreamExists()) return 'stream_exists'
  if (options.hasAny()) return 'any'
  throw invalidArgument('The expected version is missing.')
}
