import type { Command } from 'commander'
import { z } from 'zod'
import { pathTo } from '../../../description/path.ts'
import { type FileRow, rowsOfFile } from '../../../domain/licenses/import-rows.ts'
import { CommandMisused, exitCode } from '../../../terminal/exit-codes.ts'
import { print, printToStderr } from '../../../terminal/output.ts'
import type { CommandContext } from '../../context.ts'
import { hostOptions, ranOnHost } from '../../host-form.ts'
import { openRemote, type RemoteOptions, sessionOptions, wordsToRepeat } from '../../remote/build.ts'
import type { Client } from '../../remote/client.ts'
import { saveBody } from '../../remote/download.ts'
import { showDryRun } from '../../remote/dry-run.ts'
import { openApproved } from '../../remote/gate.ts'
import { readInput } from '../../remote/input.ts'
import { countProgress } from '../../remote/output.ts'

/** `keyledger licenses import`, `export`, `export-usage` and `evidence`: what goes through files. */
export function transferCommands(licenses: Command, { words, hostForms }: CommandContext): void {
  sessionOptions(
    licenses
      .command('import <file>')
      .description('Import licenses from CSV or JSON lines, - for stdin; a second run imports nothing twice'),
  )
    .requiredOption('--product <id>', 'the product of the licenses')
    .option('--json', 'print {imported, duplicates, invalid: [{line, error}]}')
    .action(importLicenses)

  sessionOptions(licenses.command('export').description('Export licenses, newest first; keys are masked'))
    .option('--out <file>', 'where to write; defaults to stdout; an existing file is not overwritten')
    .option('--format <ndjson|csv>', 'the format of the file', 'ndjson')
    .option('--product <id>', 'of this product')
    .option('--status <status>', 'with this status')
    .option('--confirmation <id>', 'a confirmation that was requested earlier')
    .option('--yes', 'has no effect here, because an approval is always needed')
    .option('--dry-run', 'show how many licenses would be exported')
    .option('--json', 'print errors, and a dry run, as JSON')
    .action((options: ExportOptions) => exportLicenses(options, words))

  sessionOptions(
    licenses
      .command('export-usage')
      .description('Export what licenses used under their meters as CSV, to be billed'),
  )
    .option('--out <file>', 'where to write; defaults to stdout; an existing file is not overwritten')
    .option('--of <totals|lines>', 'one row for each meter and period, or for each line', 'totals')
    .option('--from <time>', 'recorded then or later; defaults to the start of the month')
    .option('--to <time>', 'recorded earlier; defaults to now')
    .option('--product <id>', 'of this product')
    .option('--customer <id>', 'of this customer')
    .option('--license <id>', 'of this license')
    .option('--json', 'print errors as JSON')
    .action(exportUsage)

  const evidence = sessionOptions(
    licenses.command('evidence <id>').description('Write all evidence about a license to one signed archive'),
  )
    .requiredOption('--out <file>', 'where to write; an existing file is not overwritten')
    .option('--json', 'print {file, licenseId}')
    .action(async (id: string, options: RemoteOptions & { out: string }) => {
      if (onHost && (await ranOnHost(onHost, [id], options))) return
      const { client } = openRemote(options)
      const path = pathTo`/v1/licenses/${id}/evidence`
      await saveBody(await client.open({ method: 'GET', path, timeLimitMs: longMs }), options.out)
      print(options, { file: options.out, licenseId: id }, () => [
        `${options.out} contains the evidence about ${id}.`,
      ])
    })
  const onHost = hostForms['licenses evidence']
  if (onHost) hostOptions(evidence, onHost)
}

/** A large export takes as long as its client reads. */
const longMs = 24 * 3_600_000

type ExportOptions = RemoteOptions & {
  out?: string
  format: string
  product?: string
  status?: string
  confirmation?: string
  dryRun?: boolean
}

async function exportLicenses(options: ExportOptions, words: readonly string[]): Promise<void> {
  const { client, session } = openRemote(options)
  const { format, product, status } = options
  const call = { method: 'GET', path: '/v1/licenses/export', query: { format, product, status } } as const
  if (options.dryRun) return showDryRun(client, call, options)
  const response = await openApproved(
    client,
    { ...call, timeLimitMs: longMs },
    { confirmation: options.confirmation, words: wordsToRepeat(words, session) },
  )
  await saveLines(response, options.out)
}

type UsageExport = RemoteOptions & {
  out?: string
  of: string
  from?: string
  to?: string
  product?: string
  customer?: string
  license?: string
}

async function exportUsage(options: UsageExport): Promise<void> {
  const { client } = openRemote(options)
  const { of, from, to, product, customer, license } = options
  const query = { of, from, to, product, customer, license }
  const call = { method: 'GET', path: '/v1/usage/export', query, timeLimitMs: longMs } as const
  await saveLines(await client.open(call), options.out)
}

/** Writes what a server sends line by line, with its progress on stderr. */
async function saveLines(
  response: Awaited<ReturnType<Client['open']>>,
  out: string | undefined,
): Promise<void> {
  const progress = countProgress('Exporting', 'lines')
  let lines = 0
  await saveBody(response, out, (chunk) => {
    for (const byte of chunk) if (byte === lineEnd) lines += 1
    progress.update(lines)
  })
  progress.done(lines)
  if (out !== undefined) printToStderr(`${out} has ${lines} lines.`)
}

const lineEnd = 0x0a
/** Far below the limit of the server, so that each call is short and progress is seen. */
const batchSize = 500

const Outcome = z.object({
  imported: z.int(),
  results: z.array(z.object({ index: z.int(), status: z.string(), error: z.string().optional() })),
})

type Imported = { imported: number; duplicates: number; invalid: { line: number; error: string }[] }

async function importLicenses(file: string, options: RemoteOptions & { product: string }): Promise<void> {
  const rows = rowsOfFile(await readInput(file, 'The file'))
  if (typeof rows === 'string') throw new CommandMisused(`${file}: ${rows}`)
  const { client } = openRemote(options)
  const result: Imported = { imported: 0, duplicates: 0, invalid: [] }
  const progress = countProgress('Importing', 'licenses', rows.length)
  for (let start = 0; start < rows.length; start += batchSize) {
    await importBatch(client, options.product, rows.slice(start, start + batchSize), result)
    progress.update(Math.min(rows.length, start + batchSize))
  }
  progress.done(rows.length)
  print(options, result, () => [
    ...result.invalid.map(({ line, error }) => `line ${line}: ${error}`),
    `${result.imported} imported, ${result.duplicates} already there, ${result.invalid.length} not valid.`,
  ])
  if (result.invalid.length > 0) process.exitCode = exitCode.refused
}

async function importBatch(
  client: Client,
  productId: string,
  rows: readonly FileRow[],
  result: Imported,
): Promise<void> {
  const readable = rows.flatMap((row) => ('row' in row ? [row] : []))
  for (const row of rows) if ('problem' in row) result.invalid.push({ line: row.line, error: row.problem })
  if (readable.length === 0) return
  const body = { productId, licenses: readable.map(({ row }) => row) }
  const call = { method: 'POST', path: '/v1/licenses/import', body, timeLimitMs: 120_000 } as const
  const { imported, results } = Outcome.parse((await client.call(call)).body)
  result.imported += imported
  for (const { index, status, error = 'not valid' } of results) {
    if (status === 'duplicate') result.duplicates += 1
    if (status === 'invalid') result.invalid.push({ line: readable[index]?.line ?? 0, error })
  }
}
