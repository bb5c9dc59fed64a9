/**
 * An app without a network that uses a meter as fast as it can, and says which uses were allowed, until it is killed.
 * `node meter-victim.ts DIRECTORY NAME`
 */
import { join } from 'node:path'
import { createClient } from '../../src/sdk/javascript/app/index.ts'
import { createMeters } from '../../src/sdk/javascript/app/meters/index.ts'
import { fileJournal, fileStorage } from '../../src/sdk/javascript/node/index.ts'
import { impatientClock, noNetwork } from './asking.ts'

const [directory = '', name = ''] = process.argv.slice(2)
const client = createClient({
  ...{ baseUrl: 'https://licenses.example.com', tenantId: String(process.env.TENANT), productId: 'api' },
  ...{ sdkKey: 'kl_sdk_1', storage: fileStorage(join(directory, 'license.json')), fetch: noNetwork },
  clock: impatientClock(() => Date.parse(process.env.NOW ?? '')),
})
const meter = createMeters(client, { journal: fileJournal(join(directory, 'journal')) }).meter('calls')
for (let index = 0; ; index++) {
  const key = `${name}-${index}`
  const used = await meter.use('0.01', { key })
  process.stdout.write(used.allowed ? `${key}\n` : `refused ${used.reason}\n`)
  if (!used.allowed) break
}
