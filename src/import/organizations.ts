import {
  customersWithAddress,
  importOrganizations,
  type OrganizationImportPorts,
  type OrganizationOutcome,
  previewOrganizations,
} from '../commands/organizations/import.ts'
import type { Origin } from '../commands/origin.ts'
import type { Ports } from '../ports.ts'
import type { Accounts, OrganizationCustomers } from './batches.ts'
import type { OrganizationPlan } from './plan/organizations.ts'
import { withRetries } from './run.ts'

type Use = { tenantId: string; plan: OrganizationPlan; accounts: Accounts['organizations'] }

/** What {@link makeOrganizations} would do, without doing it. */
export const previewed = (
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  use: Use,
): Promise<OrganizationCustomers> =>
  settled(ports, use, (rows) => previewOrganizations(ports, use.tenantId, rows))

/**
 * Makes the organizations of an export, before their licenses are imported. It can be killed at any time: run again, it makes those that
 * are missing and finds the others.
 * @returns the customers that they are
 * @throws LedgerUnavailable, LedgerFrozen when the stores do not recover
 */
export const makeOrganizations = (
  ports: OrganizationImportPorts,
  use: Use,
  origin: Origin,
): Promise<OrganizationCustomers> =>
  settled(ports, use, (rows) =>
    withRetries((isAgain) => {
      const own = isAgain ? { ...origin, run: { resumed: true } } : origin
      return importOrganizations(ports, use.tenantId, rows, own)
    }),
  )

type Rows = Parameters<typeof importOrganizations>[2]

async function settled(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  { tenantId, plan, accounts }: Use,
  become: (rows: Rows) => Promise<OrganizationOutcome[]>,
): Promise<OrganizationCustomers> {
  const { planned, mapped, problems } = plan
  const rows = planned.map(({ row }) => row)
  // Before any of them has an address here.
  const others = await customersWithAddress(ports, tenantId, rows)
  const outcomes = await become(rows)
  const customers = new Map(
    mapped.map(({ organization, customerId }) => [organization.externalId, customerId]),
  )
  for (const { organization, problem } of problems) accounts.leftOut(organization, problem)
  for (const { organization, customerId } of mapped)
    accounts.alreadyThere(organization, [`Its people are left out: it is the customer ${customerId}.`])
  for (const [index, organization] of planned.entries()) {
    const outcome = outcomes[index]
    const { externalId } = organization.row
    if (outcome === undefined || outcome.status === 'erased') {
      accounts.leftOut(organization.organization, 'It was imported before, and erased here since.')
      continue
    }
    customers.set(externalId, outcome.customerId)
    const other = others[index]
    if (outcome.status === 'already_there') accounts.alreadyThere(organization.organization, [])
    else
      accounts.imported(
        organization,
        other === undefined || hasAddressOfPerson(organization.row)
          ? []
          : [`The customer ${other} has its address, and stays another customer.`],
      )
  }
  return customers
}

const hasAddressOfPerson = ({ email, people }: Rows[number]): boolean =>
  people.some((person) => person.email.toLowerCase() === email.toLowerCase())
