import type { LogSource } from '../ledger/raw/log.ts'
import { readParts } from './archive-reader.ts'
import { plainOf } from './compression.ts'
import type { DecryptionKey } from './encryption.ts'
import { isOfLog, type Manifest } from './format.ts'
import { eventsIn } from './log-part.ts'

/** The log in a checked backup, as a source for a copy. Its positions are those of the original log. */
export function logInFile(
  file: string,
  key: DecryptionKey,
  { manifest, onBytes }: { manifest: Manifest; onBytes: (bytes: number) => void },
): LogSource {
  return {
    head: () =>
      Promise.resolve(manifest.log.headPosition === null ? undefined : BigInt(manifest.log.headPosition)),
    async *pages(after) {
      for await (const { name, bytes } of readParts(file, key, manifest, onBytes)) {
        if (!isOfLog(name)) continue
        const events = eventsIn(await plainOf(bytes)).filter(({ position }) => position > (after ?? -1n))
        const through = events.at(-1)?.position
        if (through !== undefined) yield { events, through }
      }
    },
  }
}
