import { countDeliveries, type DeliveryCounts } from '../../../projections/deliveries/counts.ts'
import { countShared } from '../../../projections/licenses/count.ts'
import { listParkedOfTenant, type TenantParkedStream } from '../../../projections/runner/parked.ts'
import { countSalesNeedingHolder } from '../../../projections/sales/holders.ts'
import { countParkedSales } from '../../../projections/sales/queries.ts'
import { countUnmatched } from '../../../projections/sales/unmatched.ts'
import { type HeldRole, may, type Right } from '../../domain/members/roles.ts'
import type { Ports } from '../../ports.ts'

export type NavItem =
  | 'home'
  | 'approvals'
  | 'products'
  | 'licenses'
  | 'customers'
  | 'resellers'
  | 'sales'
  | 'insights'
  | 'devices'
  | 'refusals'
  | 'deliveries'
  | 'audit'
  | 'integrations'
  | 'webhooks'
  | 'tokens'
  | 'members'
  | 'portal'
  | 'settings'
  | 'system'
  | 'mailbox'
  | 'start'
  | 'account'
  // Of the people of resellers.
  | 'reseller'
  | 'own_licenses'
  | 'own_customers'

type NavEntry = {
  item: NavItem
  label: string
  href: string
  /** Shown only to members with this right. */
  needs?: Right
}

type NavGroup = {
  /** Undefined for the entries above all groups. */
  title?: string
  entries: readonly NavEntry[]
}

const groups: readonly NavGroup[] = [
  {
    entries: [
      { item: 'home', label: 'Home', href: '/dashboard' },
      { item: 'approvals', label: 'Approvals', href: '/dashboard/approvals', needs: 'see_requests' },
    ],
  },
  {
    title: 'Sell',
    entries: [
      { item: 'products', label: 'Products', href: '/dashboard/products', needs: 'products:read' },
      { item: 'licenses', label: 'Licenses', href: '/dashboard/licenses', needs: 'licenses:read' },
      { item: 'customers', label: 'Customers', href: '/dashboard/customers', needs: 'customers:read' },
      { item: 'resellers', label: 'Resellers', href: '/dashboard/resellers', needs: 'customers:read' },
      { item: 'sales', label: 'Sales', href: '/dashboard/sales', needs: 'licenses:read' },
    ],
  },
  {
    title: 'Watch',
    entries: [
      { item: 'insights', label: 'Insights', href: '/dashboard/insights', needs: 'see_insights' },
      { item: 'devices', label: 'Devices', href: '/dashboard/devices', needs: 'licenses:read' },
      { item: 'refusals', label: 'Refusals', href: '/dashboard/refusals', needs: 'licenses:read' },
      { item: 'deliveries', label: 'Deliveries', href: '/dashboard/deliveries', needs: 'integrations:read' },
      { item: 'audit', label: 'Audit log', href: '/dashboard/audit', needs: 'licenses:read' },
      { item: 'mailbox', label: 'Mailbox', href: '/dashboard/mailbox', needs: 'manage_settings' },
    ],
  },
  {
    title: 'Set up',
    entries: [
      {
        item: 'integrations',
        label: 'Integrations',
        href: '/dashboard/integrations',
        needs: 'integrations:read',
      },
      { item: 'webhooks', label: 'Webhooks', href: '/dashboard/webhooks', needs: 'integrations:read' },
      { item: 'tokens', label: 'API tokens', href: '/dashboard/tokens', needs: 'see_requests' },
      { item: 'portal', label: 'Portal', href: '/dashboard/portal', needs: 'manage_settings' },
      { item: 'members', label: 'Members', href: '/dashboard/members' },
      { item: 'settings', label: 'Settings', href: '/dashboard/settings', needs: 'integrations:read' },
      { item: 'system', label: 'System', href: '/dashboard/system', needs: 'usage:read' },
    ],
  },
  {
    title: 'Help',
    entries: [{ item: 'start', label: 'Get started', href: '/dashboard/start', needs: 'products:read' }],
  },
]

const groupsOfResellers: readonly NavGroup[] = [
  {
    entries: [
      { item: 'reseller', label: 'Overview', href: '/dashboard/reseller' },
      { item: 'own_licenses', label: 'Licenses', href: '/dashboard/reseller/licenses' },
      { item: 'own_customers', label: 'Customers', href: '/dashboard/reseller/customers' },
    ],
  },
]

/** The groups of the navigation that a member sees. */
export const navigationFor = (role: HeldRole, hasMailbox: boolean): NavGroup[] =>
  (role === 'reseller' ? groupsOfResellers : groups)
    .map((group) => ({
      ...group,
      entries: group.entries.filter(
        ({ item, needs }) => (item !== 'mailbox' || hasMailbox) && (needs === undefined || may(role, needs)),
      ),
    }))
    .filter(({ entries }) => entries.length > 0)

/** What the pages of the navigation are called, by what they require. */
export function pagesFor(): ReadonlyMap<Right, string[]> {
  const pages = new Map<Right, string[]>()
  for (const { needs, label } of groups.flatMap(({ entries }) => entries))
    if (needs !== undefined) pages.set(needs, [...(pages.get(needs) ?? []), label])
  return pages
}

/** A page above the present one: its name and its path. */
export type Crumb = { label: string; href: string }

/** The list or the page that an entry of the navigation opens. */
export function crumbOf(item: NavItem): Crumb | undefined {
  if (item === 'account') return { label: 'Your account', href: '/dashboard/account' }
  return [...groups, ...groupsOfResellers]
    .flatMap(({ entries }) => entries)
    .find((entry) => entry.item === item)
}

/** Abandoned deliveries are counted for as long as a member may want to redeliver them. */
const abandonedWithinMs = 7 * 86_400_000

/** A refund may arrive before its sale. What no sale has claimed in a month is no news. */
const unmatchedAfterMs = 3_600_000
const unmatchedWithinMs = 30 * 86_400_000

/** What a tenant's members should look at. Every page that shows one of these figures takes it from here. */
export type Attention = {
  /** Pending deliveries, and those that were abandoned in the last seven days. */
  deliveries: DeliveryCounts
  parkedSales: number
  salesNeedingHolder: number
  /** Refunds and disputes that belong to no known sale. */
  unmatchedPayments: number
  parkedStreams: readonly TenantParkedStream[]
  /** Licenses with an open notice of sharing. */
  sharedLicenses: number
}

/** Counts what needs attention in a tenant now. */
export async function readAttention(ports: Ports<'db' | 'now'>, tenantId: string): Promise<Attention> {
  const now = ports.now()
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const since = ago(abandonedWithinMs)
  const [deliveries, parkedSales, salesNeedingHolder, unmatchedPayments, parkedStreams, sharedLicenses] =
    await Promise.all([
      countDeliveries(ports.db, tenantId, { now: now.toISOString(), since }),
      countParkedSales(ports.db, tenantId),
      countSalesNeedingHolder(ports.db, tenantId),
      countUnmatched(ports.db, tenantId, { from: ago(unmatchedWithinMs), until: ago(unmatchedAfterMs) }),
      listParkedOfTenant(ports.db, tenantId),
      countShared(ports.db, tenantId),
    ])
  return { deliveries, parkedSales, salesNeedingHolder, unmatchedPayments, parkedStreams, sharedLicenses }
}
