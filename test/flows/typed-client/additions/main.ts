// Calls every operation that the interface has beside those of its contract. Who adds an operation calls it in the file
// of its subject.

import { connect } from '../program.ts'

connect()
await import('./licenses.ts')
await import('./mails.ts')
await import('./meters.ts')
await import('./undone.ts')
await import('./customers.ts')
await import('./refusals.ts')
await import('./seats.ts')
await import('./webhooks.ts')
await import('./sales.ts')
await import('./dry-runs.ts')
await import('./administration.ts')
await import('./transparency.ts')
console.log('every addition is called')
