import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LogFiles } from './logs.ts'

/** A server that shows one log after another. */
export type ForgedServer = { address: string; show: (files: LogFiles) => void; close: () => Promise<void> }

export async function openForgedServer(): Promise<ForgedServer> {
  let shown: LogFiles = new Map()
  const server = createServer((request, response) => {
    const content = shown.get((request.url ?? '').replace(/^\/v1\/transparency\//, ''))
    response.statusCode = content ? 200 : 404
    response.end(content ?? '{"error":"not_found","message":"not found"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    show: (files) => {
      shown = files
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
