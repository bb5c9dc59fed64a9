import { request } from 'node:http'
import { z } from 'zod'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { approve } from '../../src/gate/approvals.ts'
import { type Figure, perSecond } from './figures.ts'
import { fillLicenses, tenantId } from './fill.ts'
import { scratchLedger } from './ledger.ts'
import { residentMiB, startLedger } from './processes.ts'

const licenses = 1_000_000
const Pending = z.object({ confirmation: z.object({ id: z.string() }) })

/** The memory of a server during an export of all its licenses, and the speed of the export. */
export async function benchExport(log: (line: string) => void): Promise<Figure[]> {
  const scratch = await scratchLedger()
  try {
    log(`filling ${licenses.toLocaleString('en-US')} licenses`)
    await fillLicenses(scratch.directory, 0, licenses)
    // The first start fills the read models.
    const ledger = await startLedger(scratch.directory)
    try {
      const operator = await openOperator(scratch.directory)
      await operator.giveHolder()
      const figures: Figure[] = []
      for (const format of ['ndjson', 'csv']) {
        const url = `${ledger.address}/v1/licenses/export?format=${format}`
        const first = await exportOnce(url, scratch.token, operator, ledger.pid, licenses)
        const taken = await exportOnce(url, scratch.token, operator, ledger.pid, licenses)
        // Memory varies with garbage collection, so the maxima are compared.
        const earlyMiB = Math.max(first.earlyMiB, taken.earlyMiB)
        log(
          `${format}: ${taken.mib.toFixed(0)} MiB in ${taken.seconds.toFixed(1)} s, resident until a fifth at most ${earlyMiB.toFixed(0)} MiB, in all at most ${taken.maxMiB.toFixed(0)}`,
        )
        figures.push({
          what: `export, memory (${format}, ${perSecond(licenses / taken.seconds)})`,
          measured: `${taken.maxMiB.toFixed(0)} MiB at most`,
          against: `${earlyMiB.toFixed(0)} MiB until a fifth`,
          ratio: `${Math.round((taken.maxMiB / earlyMiB) * 100)} %`,
          bar: 'flat (≤ 125 %)',
          holds: taken.maxMiB <= 1.25 * earlyMiB,
        })
      }
      await operator.close()
      return figures
    } finally {
      await ledger.stop()
    }
  } finally {
    scratch.remove()
  }
}

type Operator = Awaited<ReturnType<typeof openOperator>>

/** Opens the stores of a running ledger, to approve exports as an operator. */
export async function openOperator(directory: string) {
  const { ports, db, close } = await openStores(
    parseConfig({ KEYLEDGER_DATA_DIR: directory }),
    createLog('warn'),
  )
  return {
    /** All licenses have the same holder, so that every row contains sealed data. */
    async giveHolder() {
      const { subjectId, email, name } = await ports.subjects.sealPerson(tenantId, 'ada@example.com', 'Ada')
      const session = await db.connect()
      await session.query('set statement_timeout = 0')
      await session.query('update licenses set subject_id = $1, email = $2, name = $3', [
        subjectId,
        email,
        name,
      ])
      await session.query('vacuum analyze licenses')
      session.release(true)
    },
    approve: (id: string) => approve(ports, null, id, { requestId: newId('req'), actor: 'operator:bench' }),
    close,
  }
}

/** Requests an export of `licenses` licenses, approves it and downloads it. @throws Error when lines are missing */
export async function exportOnce(
  url: string,
  token: string,
  operator: Operator,
  pid: number,
  licenses: number,
) {
  const headers = { authorization: `Bearer ${token}` }
  const requested = await fetch(url, { headers })
  const { confirmation } = Pending.parse(await requested.json())
  await operator.approve(confirmation.id)
  const started = performance.now()
  let bytes = 0
  let lines = 0
  let earlyMiB = 0
  let maxMiB = 0
  for await (const chunk of await download(url, { ...headers, 'x-service-confirmation': confirmation.id })) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 0x0a) lines++
    const resident = residentMiB(pid)
    maxMiB = Math.max(maxMiB, resident)
    if (lines <= licenses / 5) earlyMiB = maxMiB
  }
  if (lines < licenses) throw new Error(`${lines} lines came`)
  const seconds = (performance.now() - started) / 1000
  return { seconds, mib: bytes / 2 ** 20, earlyMiB, maxMiB }
}

function download(url: string, headers: Record<string, string>): Promise<AsyncIterable<Buffer>> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, resolve).on('error', reject).end()
  })
}
