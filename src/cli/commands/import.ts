import { type Command, Option } from 'commander'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { withStores } from '../../app/with-stores.ts'
import type { Origin } from '../../commands/origin.ts'
import { ConfigError, parseConfig } from '../../config.ts'
import { Refusal } from '../../domain/refusal.ts'
import { type SourceName, sourceNames } from '../../import/foreign.ts'
import { applyJob, type Job, planJob, previewJob, problemsOf } from '../../import/job.ts'
import { ImportProblem } from '../../import/problem.ts'
import { noReport, openReport } from '../../import/report.ts'
import { sourceOf } from '../../import/sources/sources.ts'
import type { AllPorts } from '../../ports.ts'
import { CommandRefused, exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { columnsOf, pairsOf, productsOf, repeated } from '../import/arguments.ts'
import { importData, importLines } from '../import/view.ts'
import { openWorkDirectory } from '../import/work-directory.ts'

type ImportOptions = OutputOptions & {
  from: SourceName
  tenant: string
  product: string[]
  map?: string[]
  column?: string[]
  apply?: boolean
  report?: string
}

/** `keyledger import`: takes over licenses of another system. */
export function importCommand(program: Command): void {
  program
    .command('import')
    .description(
      'Take over licenses of another system: first what becomes of them; with --apply, import them',
    )
    .argument('[export]', 'an export file, or a directory with several')
    .addOption(new Option('--from <system>').choices(sourceNames).makeOptionMandatory())
    .requiredOption('--tenant <id>')
    .requiredOption(
      '--product <id>',
      'the product that the licenses go to, or theirs=ours for each of several; repeatable',
      repeated,
    )
    .option(
      '--map <policy=keyType>',
      'use this key type for a policy, by its id or name; repeatable',
      repeated,
    )
    .option('--column <theirs=ours>', 'csv: which of our columns a column is; repeatable', repeated)
    .option('--apply', 'import them; without it, nothing is changed')
    .option('--report <file>', 'write what could not be taken and why, as CSV (.csv) or JSON lines')
    .option('--json', 'print {applied, licenses, imported, alreadyThere, leftOut, …}')
    .action((path: string | undefined, options: ImportOptions) =>
      withStores(({ services }, origin) => runImportCommand(services, path, options, origin)).catch(
        asRefused,
      ),
    )
}

async function runImportCommand(
  services: AllPorts,
  path: string | undefined,
  options: ImportOptions,
  origin: Origin,
): Promise<void> {
  const { tenant: tenantId } = options
  const tenant = await findTenant(services.db, tenantId)
  if (!tenant) throw new Refusal('tenant_not_found')
  if (tenant.status === 'suspended') throw new Refusal('tenant_suspended')
  if (tenant.status === 'closed') throw new Refusal('tenant_closed')
  const source = sourceOf(options.from, { columns: columnsOf(options.column) })
  const mapped = pairsOf('--map', options.map)
  const productOf = await productsOf(services, tenantId, options.product)
  if (path === undefined) throw new ConfigError('The export is missing. Name its file or its directory.')
  const work = openWorkDirectory(parseConfig(process.env).dataDirectory)
  try {
    const job = await planJob({ source, path, workDirectory: work.path, productOf, mapped })
    await runJob(services, job, { ...options, plan: tenant.plan }, origin)
  } finally {
    work.remove()
  }
}

async function runJob(
  services: AllPorts,
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
      ? await applyJob(services, job, { plan, report, onProgress }, origin)
      : await previewJob(services, job, { report, onProgress })
    progress.done()
    print(options, importData(job, tally, applied), () => importLines(job, tally, applied))
  } finally {
    report.close()
  }
  if (problemsOf(job).length > 0) process.exitCode = exitCode.refused
}

function asRefused(error: unknown): never {
  throw error instanceof ImportProblem ? new CommandRefused(error.message) : error
}
