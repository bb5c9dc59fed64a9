/**
 * A process that joins the stack on a directory, prints its URLs in one line of JSON, and leaves when its input
 * ends. For tests with several processes, or one to kill.
 */
import { once } from 'node:events'
import { joinLocalStack } from '../../../infra/local/stack/stack.ts'

const [dataDirectory = '', eventStoreProgram = ''] = process.argv.slice(2)
const stack = await joinLocalStack({
  dataDirectory,
  parts: { postgres: true, eventStore: true },
  log: (message) => process.stderr.write(`${message}\n`),
  eventStoreProgram,
})
process.stdout.write(`${JSON.stringify(stack)}\n`)
await once(process.stdin.resume(), 'end')
await stack.leave()
