import { readFileSync } from 'node:fs'

/** The rules of a component lie beside it. The order matters: of equally specific rules the later wins. */
const files = [
  'frame/base.css',
  'frame/frame.css',
  'frame/page.css',
  'lists/tables.css',
  'forms/forms.css',
  'frame/copy.css',
  'products/products.css',
  'customers/customers.css',
  'approvals/approvals.css',
  'frame/plots.css',
  'frame/top.css',
  'insights/insights.css',
  'start/start.css',
  'integrations/integrations.css',
  'license/license.css',
  'mails/mails.css',
  'portal/portal.css',
  'system/system.css',
  'audit/audit.css',
  'webhooks/webhooks.css',
  'frame/screens.css',
] as const

/** @returns the style sheet of all pages */
export const readStyles = (): string =>
  files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n')
