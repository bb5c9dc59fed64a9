import type { OperationId } from '../../../description/path.ts'
import { saleCommands, webhookCommands } from './connections.ts'
import { customerCommands, licenseCommands } from './licenses.ts'
import { type Commands, type Operation, operationsOf } from './operation.ts'
import { personSeatCommands } from './person-seats.ts'
import { productCommands } from './products.ts'
import { reportCommands, workspaceCommands } from './reports.ts'

/** Operations that other commands call, or none. */
type Elsewhere =
  /** It is for programs; `api GET /v1/openapi.json` prints it. */
  | 'getOpenApi'
  /** `whoami` */
  | 'verifyToken'
  | 'logout'
  /** `login` */
  | 'startDeviceLogin'
  | 'pollDeviceLogin'
  /** `licenses import` reads a file in batches, `export` and `evidence` write one. */
  | 'importLicenses'
  | 'exportLicenses'
  | 'getEvidence'
  /** `licenses export-usage` writes a file. */
  | 'exportMeteredUse'
  /** A note that others keep as it is; `api GET /v1/transparency/checkpoint` prints it. */
  | 'getCheckpoint'

const commands = {
  ...productCommands,
  ...licenseCommands,
  ...personSeatCommands,
  ...customerCommands,
  ...webhookCommands,
  ...saleCommands,
  ...reportCommands,
  ...workspaceCommands,
} satisfies Pick<Commands, Exclude<OperationId, Elsewhere>>

/** Every command that calls one operation. The others are in src/cli/commands/remote. */
export const operations: readonly Operation[] = operationsOf(commands)
