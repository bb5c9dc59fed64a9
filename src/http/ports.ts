import type { ImportPorts } from '../commands/licenses/import.ts'
import type { TestMailPorts } from '../commands/mails.ts'
import type { EvidencePorts } from '../evidence/evidence.ts'
import type { ApprovalPorts } from '../gate/ports.ts'
import type { Ports } from '../ports.ts'

/** What the two interfaces for vendors use: the management API and the dashboard. */
export type VendorPorts = ApprovalPorts &
  EvidencePorts &
  ImportPorts &
  TestMailPorts &
  Ports<
    | 'counting'
    | 'deviceHashing'
    | 'findForRuntime'
    | 'fingerprint'
    | 'limitHits'
    | 'openId'
    | 'personalKeys'
    | 'providers'
    | 'readFromSns'
    | 'seatEnds'
    | 'sendTestEvent'
    | 'signSettings'
    | 'usage'
  >
