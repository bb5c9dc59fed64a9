/**
 * The embedded event store, where the image of EventStoreDB is not available: in a container of keyledger's own
 * image, on EventStoreDB's port. The store itself listens only on loopback, so this forwards connections.
 */
import { connect, createServer } from 'node:net'
import { startEventStore } from '../../infra/local/eventstore/server.ts'

const store = await startEventStore({ directory: '/var/lib/eventstore', port: 0 })
const passing = createServer((client) => {
  const server = connect(store.port ?? 0, '127.0.0.1')
  client.pipe(server).pipe(client)
  client.on('error', () => server.destroy())
  server.on('error', () => client.destroy())
}).listen(2113, '0.0.0.0')
process.once('SIGTERM', () => {
  passing.close()
  void store.close().then(() => process.exit(0))
})
