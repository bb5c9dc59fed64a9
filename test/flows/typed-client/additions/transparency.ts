import { getCheckpoint, getLog, getReceipt, proveConsistency } from '../client/index.ts'
import { expect } from '../program.ts'
import { mint } from './samples.ts'

const { license } = await mint('proof@example.com')
const receipt = await getReceipt({ path: { id: license.id } })
expect('a license has a receipt', receipt.data, ({ record }) => record.includes(license.id))
const log = await getLog()
expect('the log has a key', log.data, ({ keys }) => keys.length === 1)
const checkpoint = await getCheckpoint({ parseAs: 'text' })
expect('the checkpoint names the log', checkpoint.data, (note) => note.startsWith(log.data?.origin ?? '?'))
const to = Number(checkpoint.data?.split('\n')[1])
const consistency = await proveConsistency({ query: { from: 1, to } })
expect('it continues the first event', consistency.data, ({ proof }) => proof.length > 0)
