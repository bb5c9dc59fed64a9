// Answers every post with 204: the receiver of the dispatcher and of its baseline. Posts to `/hang` are answered
// only after a request to `/release`.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const held: ServerResponse[] = []
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url === '/hang') return void held.push(response)
    const released = request.url === '/release' ? held.splice(0) : []
    for (const one of [...released, response]) one.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ address: `http://127.0.0.1:${port}` })}\n`)
})
