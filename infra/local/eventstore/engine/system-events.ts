import { randomUUID } from 'node:crypto'
import type { StreamWriter } from './stream-writer.ts'

const events = [
  { stream: '$$$stats-127.0.0.1:2113', type: '$metadata', data: { $maxAge: 86_400 } },
  { stream: '$user-admin', type: '$UserCreated', data: { loginName: 'admin', groups: ['$admins'] } },
  { stream: '$users', type: '$User', data: 'admin' },
]

/**
 * Writes system events as a real node does before the first client connects, so that a reader of `$all` that
 * does not filter them fails here too.
 */
export function writeSystemEvents(writer: StreamWriter): void {
  for (const { stream, type, data } of events) {
    const event = {
      id: randomUUID(),
      type,
      isJson: true,
      metadata: new Uint8Array(),
      data: Buffer.from(JSON.stringify(data)),
    }
    writer.append(stream, 'any', [event])
  }
}
