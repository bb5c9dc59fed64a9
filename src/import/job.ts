import type { Origin } from '../commands/origin.ts'
import type { Plan } from '../domain/tenants/events.ts'
import { type Accounts, batchesOf, createAccounts, type OrganizationCustomers } from './batches.ts'
import { type Export, openExport } from './export.ts'
import { makeOrganizations, previewed } from './organizations.ts'
import { createOrganizations, type OrganizationPlan } from './plan/organizations.ts'
import { type ProductOf, planTargets, type Targets } from './plan/targets.ts'
import { ImportProblem } from './problem.ts'
import type { Report, Tally } from './report.ts'
import { createKeyTypes, previewBatches, runImport } from './run.ts'
import type { Source } from './sources/source.ts'

/** An import that is planned: its export is read, and each license has a product and a key type. */
export type Job = {
  tenantId: string
  source: Source
  exported: Export
  targets: Targets
  organizations: OrganizationPlan
}

type Input = {
  tenantId: string
  source: Source
  path: string
  workDirectory: string
  productOf: ProductOf
  /** Key types by the id or the name of a policy. */
  mapped: ReadonlyMap<string, string>
  /** Our customers by the ids of organizations. */
  organizations: ReadonlyMap<string, string>
}

/**
 * Reads an export and decides what its policies become. Close `exported` afterwards, since it holds license keys.
 * @throws ImportProblem
 */
export async function planJob(input: Input): Promise<Job> {
  const { tenantId, source, path, workDirectory, productOf, mapped } = input
  const exported = await openExport(source, path, workDirectory)
  try {
    const { policies } = exported
    const { policyNamed } = source
    const organizations = createOrganizations({ source: source.name, mapped: input.organizations })
    const licenses = organizations.seen(exported.licenses(), productOf)
    const targets = await planTargets(licenses, { productOf, mapped, policies, policyNamed })
    return { tenantId, source, exported, targets, organizations: organizations.plan(exported.organizations) }
  } catch (error) {
    exported.close()
    throw error
  }
}

/** Called with how many of the licenses are done. */
type OnProgress = (done: number) => void

type Use = { report: Report; onProgress: OnProgress }

/** What the import would do. Nothing is changed. */
export async function previewJob(
  ports: Parameters<typeof previewBatches>[0] & Parameters<typeof previewed>[0],
  job: Job,
  use: Use,
): Promise<Tally> {
  const accounts = createAccounts(use.report)
  const onBatch = counting(use.onProgress)
  const customers = await previewed(ports, ofOrganizations(job, accounts))
  await previewBatches(ports, batches(job, accounts, customers), {
    targets: job.targets.all,
    accounts,
    onBatch,
  })
  return accounts.tally()
}

/**
 * Creates the key types and the organizations that are missing, and imports the licenses.
 * @throws ImportProblem when a key type cannot be used; nothing was changed then
 * @throws as {@link runImport} does; run the import again to continue
 */
export async function applyJob(
  ports: Parameters<typeof runImport>[0] & Parameters<typeof createKeyTypes>[0],
  job: Job,
  { plan, ...use }: Use & { plan: Plan },
  origin: Origin,
): Promise<Tally> {
  const problems = problemsOf(job)
  if (problems.length > 0) throw new ImportProblem(problems.join('\n'))
  const products = new Map<string, Awaited<ReturnType<typeof createKeyTypes>>>()
  for (const target of job.targets.all) {
    products.set(target.product.productId, await createKeyTypes(ports, target, origin))
  }
  const accounts = createAccounts(use.report)
  const customers = await makeOrganizations(ports, ofOrganizations(job, accounts), origin)
  const onBatch = counting(use.onProgress)
  const withKeyTypes = async function* () {
    for await (const batch of batches(job, accounts, customers)) {
      yield { ...batch, product: products.get(batch.product.productId) ?? batch.product }
    }
  }
  await runImport(ports, withKeyTypes(), { plan, accounts, onBatch }, origin)
  return accounts.tally()
}

/** Why the import cannot begin. */
export const problemsOf = ({ targets }: Job): string[] => [
  ...new Set(
    targets.all.flatMap(({ choices }) => [...choices.values()].flatMap(({ problem }) => problem ?? [])),
  ),
]

const ofOrganizations = ({ tenantId, organizations: plan }: Job, { organizations: accounts }: Accounts) => ({
  tenantId,
  plan,
  accounts,
})

const batches = ({ exported, targets, source }: Job, accounts: Accounts, customers: OrganizationCustomers) =>
  batchesOf(exported.licenses(), { targets, source: source.name, accounts, customers })

function counting(onProgress: OnProgress) {
  let done = 0
  return (licenses: number) => {
    done += licenses
    onProgress(done)
  }
}
