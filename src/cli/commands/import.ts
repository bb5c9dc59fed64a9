import { type Command, Option } from 'commander'
import { findTenant } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import type { Origin } from '../../commands/origin.ts'
import { ConfigError, parseConfig } from '../../config.ts'
import { Refusal } from '../../domain/refusal.ts'
import { ImportUnavailable } from '../../import/api/request.ts'
import { type SourceName, sourceNames } from '../../import/foreign.ts'
import { applyJob, type Job, planJob, previewJob, problemsOf } from '../../import/job.ts'
import { ImportProblem } from '../../import/problem.ts'
import { noReport, openReport } from '../../import/report.ts'
import { sourceOf } from '../../import/sources/sources.ts'
import type { AllPorts } from '../../ports.ts'
import { CommandRefused, CommandUnavailable, exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { topCommand } from '../context.ts'
import { columnsOf, customersNamed, pairsOf, productsOf, repeated } from '../import/arguments.ts'
import { type FetchOptions, fetchExport, openWorkDirectory } from '../import/fetch.ts'
import { importData, importLines } from '../import/view.ts'

type ImportOptions = OutputOptions &
  FetchOptions & {
    api?: boolean
    from: SourceName
    tenant: string
    product: string[]
    map?: string[]
    organization?: string[]
    column?: string[]
    apply?: boolean
    report?: string
  }

/** `keyledger import`: takes over licenses of another system. */
export function importCommand(program: Command): void {
  topCommand(program, 'import')
    .argument('[export]', 'an export file, or a directory with several')
    .addOption(new Option('--from <system>').choices(sourceNames).makeOptionMandatory())
    .requiredOption('--tenant <id>')
    .requiredOption(
      '--product <id>',
      'the product to import into, or theirs=ours for each of several; repeatable',
      repeated,
    )
    .option(
      '--map <policy=keyType>',
      'use this key type for a policy, by its id or name; repeatable',
      repeated,
    )
    .option(
      '--organization <theirs=ours>',
      'the customer that an organization is here already, by its id there; repeatable',
      repeated,
    )
    .option('--column <theirs=ours>', 'csv: the keyledger column that a column maps to; repeatable', repeated)
    .option(
      '--api',
      'read the API of the system instead of files; its responses are kept until they are imported',
    )
    .option('--api-key-file <path>', 'file with the API key; - for stdin; else KEYLEDGER_IMPORT_API_KEY')
    .option('--api-url <url>', 'the address of the API, if it is not the default one')
    .option('--account <id>', 'the account at Keygen, or the store at Lemon Squeezy')
    .option(
      '--license-entitlements',
      'keygen: ask for the entitlements of each license, with one call for each',
    )
    .option('--refetch', 'fetch everything again')
    .option('--apply', 'import the licenses; without it, nothing is changed')
    .option('--report <file>', 'write the skipped licenses and the reasons, as CSV (.csv) or JSON lines')
    .option('--json', 'print {applied, licenses, imported, alreadyThere, leftOut, …}')
    .action((path: string | undefined, options: ImportOptions) =>
      withStores(({ ports }, origin) => runImportCommand(ports, path, options, origin)).catch(asRefused),
    )
}

async function runImportCommand(
  ports: AllPorts,
  path: string | undefined,
  options: ImportOptions,
  origin: Origin,
): Promise<void> {
  const { tenant: tenantId } = options
  const tenant = await findTenant(ports.db, tenantId)
  if (!tenant) throw new Refusal('tenant_not_found')
  if (tenant.status === 'suspended') throw new Refusal('tenant_suspended')
  if (tenant.status === 'closed') throw new Refusal('tenant_closed')
  const source = sourceOf(options.from, { columns: columnsOf(options.column) })
  const mapped = pairsOf('--map', options.map)
  const organizations = await customersNamed(ports, tenantId, options.organization)
  const productOf = await productsOf(ports, tenantId, options.product)
  const config = parseConfig(process.env)
  const { importApiKey, dataDirectory } = config
  const target = { importApiKey, dataDirectory, tenantId }
  const exported = await exportAt(path, options, () => fetchExport(source, options, target))
  const work = openWorkDirectory(dataDirectory)
  try {
    const workDirectory = work.path
    const which = { tenantId, productOf, organizations }
    const job = await planJob({ ...which, source, path: exported.path, workDirectory, mapped })
    await runJob(ports, job, { ...options, plan: tenant.plan }, origin)
    if (options.apply) exported.remove()
  } finally {
    work.remove()
  }
}

/** An export that the operator named is kept; what was fetched is deleted once it is imported. */
async function exportAt(
  path: string | undefined,
  { api = false }: ImportOptions,
  fetched: () => Promise<{ path: string; remove(): void }>,
): Promise<{ path: string; remove(): void }> {
  if (api !== (path === undefined))
    throw new ConfigError('Name an export file or a directory, or add --api, but not both.')
  return path === undefined ? fetched() : { path, remove: () => undefined }
}

async function runJob(
  ports: AllPorts,
  job: Job,
  options: ImportOptions & { plan: 'free' | 'team' | 'unlimited' },
  origin: Origin,
): Promise<void> {
  const { apply: applied = false, plan } = options
  if (applied && problemsOf(job).length > 0) throw new ImportProblem(problemsOf(job).join('\n'))
  const report = options.report === undefined ? noReport : openReport(options.report)
  const progress = showProgress(applied ? 'Importing' : 'Checking', { unit: 'licenses' })
  const head = BigInt(job.targets.licenses)
  const onProgress = (done: number) => progress.update({ events: done, position: BigInt(done), head })
  try {
    const tally = applied
      ? await applyJob(ports, job, { plan, report, onProgress }, origin)
      : await previewJob(ports, job, { report, onProgress })
    progress.done()
    print(options, importData(job, tally, applied), () => importLines(job, tally, applied))
  } finally {
    report.close()
  }
  if (problemsOf(job).length > 0) process.exitCode = exitCode.refused
}

function asRefused(error: unknown): never {
  if (error instanceof ImportUnavailable) throw new CommandUnavailable(error.message)
  if (error instanceof ImportProblem || isFileError(error)) throw new CommandRefused(error.message)
  throw error
}

/** A file of the export cannot be read, or the report cannot be written. */
const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error
