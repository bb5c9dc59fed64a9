export type DataOption = { data: string }
export type OutOption = { out?: string }
export type EnrollOptions = DataOption &
  OutOption & {
    tenant: string
    product: string
    name: string
    seats: string
    licenseKeyFile?: string
    passwordFile?: string
    server?: string
    sdkKeyFile?: string
  }
