import type { Freshness } from '../../../projections/runner/freshness.ts'
import { may } from '../../domain/members/roles.ts'
import { type Content, type Html, html } from '../../html.ts'
import { assets } from '../assets.ts'
import type { Principal } from '../session/principal.ts'
import type { FlashMessage } from '../session/session.ts'
import { freshnessLine } from './freshness-note.ts'
import { notice as noticeBox } from './parts.ts'

export type NavItem =
  | 'home'
  | 'approvals'
  | 'sales'
  | 'licenses'
  | 'customers'
  | 'products'
  | 'devices'
  | 'deliveries'
  | 'integrations'
  | 'mailbox'
  | 'tokens'
  | 'members'
  | 'settings'
  | 'audit'
  | 'system'
  | 'account'

export type Frame = {
  title: string
  nav: NavItem | undefined
  notice: FlashMessage | undefined
  principal: Principal | undefined
  /** Whether mails are kept in the mailbox instead of being sent. */
  hasMailbox: boolean
  freshness: Freshness | undefined
  /** The number of pending approvals; undefined for members who may not approve. */
  waiting: number | undefined
  token: string
}

/** No history in the browser's storage, no generated styles or code, no requests to other origins. */
const htmxConfig = JSON.stringify({
  includeIndicatorStyles: false,
  allowEval: false,
  allowScriptTags: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  refreshOnHistoryMiss: true,
})

/** A whole page. Without a signed-in member it is only the centered content. */
export function frame(parts: Frame, content: Html): Html {
  const { title, nav, notice, principal, hasMailbox, freshness, waiting, token } = parts
  const shown = notice && noticeBox(notice.kind, notice.text)
  const main = html`<main id="content" tabindex="-1">${shown}${content}${freshness && freshnessLine(freshness)}</main>`
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <meta name="htmx-config" content=${htmxConfig} />
      <title>${title} · keyledger</title>
      <link rel="icon" href=${assets.icon} type="image/svg+xml" />
      <link rel="stylesheet" href=${assets.style} />
      <script src=${assets.htmx} defer></script>
      <script src=${assets.passkeys} defer></script>
      <script src=${assets.script} defer></script>
    </head>
    <body class=${principal ? 'app' : 'alone'}>
      <a class="skip" href="#content">Skip to content</a>
      ${principal ? sidebar({ principal, hasMailbox, nav, waiting, token }) : brand('header')} ${main}
    </body>
  </html>`
}

function brand(element: 'header' | 'a'): Html {
  const mark = html`<svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
    <rect x="3" y="3" width="18" height="18" rx="4" class="mark-paper" />
    <path d="M8 7v10M8 12.5l6.5-5.5M10.6 10.6 15 17" class="mark-ink" />
  </svg>`
  return element === 'a'
    ? html`<a class="brand" href="/dashboard">${mark}<span>keyledger</span></a>`
    : html`<header>
        <p class="brand">${mark}<span>keyledger</span></p>
      </header>`
}

const entries: readonly (readonly [item: NavItem, label: string, href: string])[] = [
  ['home', 'Home', '/dashboard'],
  ['approvals', 'Approvals', '/dashboard/approvals'],
  ['sales', 'Sales', '/dashboard/sales'],
  ['licenses', 'Licenses', '/dashboard/licenses'],
  ['devices', 'Devices', '/dashboard/devices'],
  ['customers', 'Customers', '/dashboard/customers'],
  ['products', 'Products', '/dashboard/products'],
  ['deliveries', 'Deliveries', '/dashboard/deliveries'],
]

const settingEntries: readonly (readonly [item: NavItem, label: string, href: string])[] = [
  ['integrations', 'Integrations', '/dashboard/integrations'],
  ['tokens', 'API tokens', '/dashboard/tokens'],
  ['members', 'Members', '/dashboard/members'],
  ['settings', 'Settings', '/dashboard/settings'],
  ['audit', 'Audit log', '/dashboard/audit'],
  ['system', 'System', '/dashboard/system'],
]

/** Updated by the script, with JavaScript. */
const waitingBadge = (waiting: number): Html =>
  html`<span class="waiting" data-waiting="/dashboard/approvals/waiting" role="status">
    <span class="count">${waiting === 0 ? '' : waiting}</span><span class="unseen"> pending</span>
  </span>`

type Sidebar = Pick<Frame, 'hasMailbox' | 'nav' | 'waiting' | 'token'> & { principal: Principal }

function sidebar({ principal, hasMailbox, nav, waiting, token }: Sidebar): Html {
  const mayReadMails = hasMailbox && may(principal.role, 'manage_settings')
  const link = ([item, label, href]: (typeof entries)[number]): Content =>
    html`<li>
      <a href=${href} aria-current=${item === nav ? 'page' : undefined}>
        ${label}${item === 'approvals' && waiting !== undefined && waitingBadge(waiting)}
      </a>
    </li>`
  return html`<header class="side"><div class="side-in">
    ${brand('a')}
    <p class="workspace" title=${principal.tenantId}>
      ${principal.tenantName}${principal.tenantStatus === 'suspended' && html`<span class="badge warn">suspended</span>`}
    </p>
    <nav aria-label="Main">
      <ul>
        ${entries.map(link)}
      </ul>
      <ul class="nav-settings">
        ${settingEntries.map(link)} ${mayReadMails && link(['mailbox', 'Mailbox', '/dashboard/mailbox'])}
      </ul>
    </nav>
    <div class="me">
      <a href="/dashboard/account" aria-current=${nav === 'account' ? 'page' : undefined}>
        <span class="me-name">${principal.email ?? principal.memberId}</span>
        <span class="me-role">${principal.role}</span>
      </a>
      <form method="post" action="/dashboard/sign-out">
        <input type="hidden" name="_csrf" value=${token} />
        <button class="quiet">Sign out</button>
      </form>
    </div>
  </div></header>`
}
