import { addUser, changeUser, type DirectoryUser, type Wanted } from '../../src/commands/members/directory.ts'
import {
  addGroup,
  changeGroup,
  changeScimSettings,
  removeGroup,
} from '../../src/commands/members/directory-groups.ts'
import { newId } from '../../src/credentials/id.ts'
import { origin, type TestLedger } from '../harness/ledger.ts'

export type DirectoryStep =
  | 'set directory'
  | 'add user'
  | 'rename user'
  | 'deactivate user'
  | 'reactivate user'
  | 'add group'
  | 'rename group'
  | 'fill group'
  | 'remove group'

const ada: Wanted = {
  userName: 'directory-ada@example.com',
  email: 'directory-ada@example.com',
  externalId: 'entra-1',
  displayName: 'Ada',
  givenName: null,
  familyName: null,
  formatted: null,
  active: true,
}

/** The steps of a directory of a tenant with one user and one group. */
export function directoryStepRunner(ports: TestLedger['ports'], tenantId: string) {
  let userId = newId('mem')
  let groupId = newId('grp')
  const change = (wanted: Partial<Wanted>) =>
    changeUser(ports, tenantId, userId, (user: DirectoryUser) => ({ ...user, ...wanted }), origin)
  return async (step: DirectoryStep): Promise<unknown> => {
    switch (step) {
      case 'set directory': {
        const roles = [{ group: 'Admins', role: 'admin' as const }]
        return changeScimSettings(ports, tenantId, { roles, defaultRole: 'support' }, newId('cnf'), origin)
      }
      case 'add user': {
        const { member } = await addUser(ports, tenantId, ada, origin)
        userId = member.memberId
        return userId
      }
      case 'rename user': {
        const name = `${newId('req')}@example.com`
        return change({ userName: name, email: name })
      }
      case 'deactivate user':
        return change({ active: false })
      case 'reactivate user':
        return change({ active: true })
      case 'add group': {
        const group = { displayName: 'Admins', externalId: null, memberIds: [] }
        groupId = (await addGroup(ports, tenantId, group, origin)).groupId
        return groupId
      }
      case 'rename group':
        return changeGroup(
          ports,
          tenantId,
          groupId,
          (group) => ({ ...group, externalId: `${group.externalId ?? ''}x` }),
          origin,
        )
      case 'fill group':
        return changeGroup(ports, tenantId, groupId, (group) => ({ ...group, memberIds: [userId] }), origin)
      case 'remove group':
        return removeGroup(ports, tenantId, groupId, origin)
    }
  }
}
