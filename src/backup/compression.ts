import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** The size of a part before compression. It bounds the memory used, and how much a damaged byte can spoil. */
const partBytes = 4 * 1024 * 1024
/** Larger than any part: an event has 1 MiB at most. */
const maxPlainBytes = 64 * 1024 * 1024

/** Decompresses a part. @throws Error for bytes that are not zstd, or too long */
export const plainOf = (part: Uint8Array): Promise<Buffer> =>
  decompress(part, { maxOutputLength: maxPlainBytes })

/** Collects bytes and passes them on compressed, one part at a time. */
export function createParts(add: (number: number, bytes: Uint8Array) => Promise<void>) {
  let gathered: Uint8Array[] = []
  let bytes = 0
  let number = 0

  async function flush(): Promise<void> {
    if (bytes === 0) return
    const part = Buffer.concat(gathered)
    gathered = []
    bytes = 0
    number += 1
    await add(number, await compress(part))
  }

  return {
    async write(chunk: Uint8Array): Promise<void> {
      gathered.push(chunk)
      bytes += chunk.length
      if (bytes >= partBytes) await flush()
    },
    /** Passes on the rest. */
    flush,
  }
}
