import type { ExpectedVersion } from '../engine/version-check.ts'
import { invalidArgument } from '../wire/errors.ts'
import { parseUint64 } from '../wire/numbers.ts'

/** The options that all writing RPCs share; only the exact revision has different names. */
type VersionOptions = {
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
