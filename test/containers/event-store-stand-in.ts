/**
 * The embedded event store where the image of EventStoreDB cannot be had: in a container of keyledger's own image, on the
 * port that EventStoreDB has. The store itself listens to its own machine only, so this passes on what comes.
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
