import { may, type Permission, type Role } from '../../domain/members/roles.ts'

export type NavItem =
  | 'home'
  | 'approvals'
  | 'products'
  | 'licenses'
  | 'customers'
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

type NavEntry = {
  item: NavItem
  label: string
  href: string
  /** Shown only to members with this permission. */
  needs?: Permission
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
      { item: 'approvals', label: 'Approvals', href: '/dashboard/approvals' },
    ],
  },
  {
    title: 'Sell',
    entries: [
      { item: 'products', label: 'Products', href: '/dashboard/products' },
      { item: 'licenses', label: 'Licenses', href: '/dashboard/licenses' },
      { item: 'customers', label: 'Customers', href: '/dashboard/customers' },
      { item: 'sales', label: 'Sales', href: '/dashboard/sales' },
    ],
  },
  {
    title: 'Watch',
    entries: [
      { item: 'insights', label: 'Insights', href: '/dashboard/insights' },
      { item: 'devices', label: 'Devices', href: '/dashboard/devices' },
      { item: 'refusals', label: 'Refusals', href: '/dashboard/refusals' },
      { item: 'deliveries', label: 'Deliveries', href: '/dashboard/deliveries' },
      { item: 'audit', label: 'Audit log', href: '/dashboard/audit' },
      { item: 'mailbox', label: 'Mailbox', href: '/dashboard/mailbox', needs: 'manage_settings' },
    ],
  },
  {
    title: 'Set up',
    entries: [
      { item: 'integrations', label: 'Integrations', href: '/dashboard/integrations' },
      { item: 'webhooks', label: 'Webhooks', href: '/dashboard/webhooks' },
      { item: 'tokens', label: 'API tokens', href: '/dashboard/tokens' },
      { item: 'portal', label: 'Portal', href: '/dashboard/portal', needs: 'manage_settings' },
      { item: 'members', label: 'Members', href: '/dashboard/members' },
      { item: 'settings', label: 'Settings', href: '/dashboard/settings' },
      { item: 'system', label: 'System', href: '/dashboard/system' },
    ],
  },
  { title: 'Help', entries: [{ item: 'start', label: 'Get started', href: '/dashboard/start' }] },
]

/** The groups of the navigation that a member sees. */
export const navigationFor = (role: Role, hasMailbox: boolean): NavGroup[] =>
  groups.map((group) => ({
    ...group,
    entries: group.entries.filter(
      ({ item, needs }) => (item !== 'mailbox' || hasMailbox) && (needs === undefined || may(role, needs)),
    ),
  }))

/** A page above the present one: its name and its path. */
export type Crumb = { label: string; href: string }

/** The list or the page that an entry of the navigation opens. */
export function crumbOf(item: NavItem): Crumb | undefined {
  if (item === 'account') return { label: 'Your account', href: '/dashboard/account' }
  return groups.flatMap(({ entries }) => entries).find((entry) => entry.item === item)
}
