import { tilePath } from '../transparency/tree/tiles.ts'
import { NotProved } from '../verifier/not-proved.ts'
import type { ServedLog } from '../verifier/server.ts'
import { serverAddress } from './remote/address.ts'
import { createClient } from './remote/client.ts'
import { RemoteError } from './remote/errors.ts'

/**
 * The log of a server.
 * @param url of the server, or with a path the prefix of any log in the layout of tlog-tiles
 * @throws CommandMisused when it is no address
 */
export function servedLog(url: string): ServedLog {
  // Everything that is read is public, and signed.
  const address = new URL(serverAddress(url, { insecureHttp: true }))
  const prefix = address.pathname === '/' ? '/v1/transparency' : address.pathname.replace(/\/$/, '')
  const client = createClient(address.origin, { retries: 2 })
  const read = async (path: string): Promise<Uint8Array> => {
    try {
      const response = await client.open({ method: 'GET', path: `${prefix}/${path}` })
      return new Uint8Array(await response.arrayBuffer())
    } catch (error) {
      if (!(error instanceof RemoteError && error.status === 404)) throw error
      throw new NotProved(
        'missing',
        `${address.origin} has no ${prefix}/${path}. Ask its operator whether the notary runs, or give the prefix of the log.`,
      )
    }
  }
  return {
    checkpoint: async () => Buffer.from(await read('checkpoint')).toString(),
    tile: (tile) => read(tilePath(tile)),
  }
}
