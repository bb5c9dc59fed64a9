import type { Tool } from './tool.ts'
import { changeLicenseTools } from './tools/change-licenses.ts'
import { findLicenseTools } from './tools/find-licenses.ts'
import { saleTools } from './tools/sales.ts'
import { webhookTools } from './tools/webhooks.ts'
import { workspaceTools } from './tools/workspace.ts'

/** Every tool, in the order in which agents see them. */
export const allTools: readonly Tool[] = [
  ...findLicenseTools,
  ...changeLicenseTools,
  ...saleTools,
  ...webhookTools,
  ...workspaceTools,
]
