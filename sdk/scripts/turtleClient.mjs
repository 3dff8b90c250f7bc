import { comment, members } from './clientTypes.mjs'

/**
 * The operations of the origin's published client by their name here; null where the name is the usual one. Operations
 * that the origin has not are in the client alone.
 */
const origin = {
  CreateCancelDepositInteraction: null,
  CreateClaimDepositInteraction: null,
  CreateDepositInteraction: null,
  CreateMembership: 'createMembershipV2',
  CreateMembershipAgreement: 'createMembershipAgreementV2',
  CreateStream: null,
  CreateStreamPoint: null,
  CreateWithdrawInteraction: null,
  GetChains: null,
  GetDistributorDeposits: 'getDistributorDepositsV2',
  GetDistributorLPs: 'getDistributorLps',
  GetDistributorMetrics: null,
  GetMembership: null,
  GetMerkleProofs: 'turtleStreamsGetMerkleProofs',
  GetOpportunity: null,
  GetOpportunityFilterOptions: null,
  GetOpportunityHistorical: null,
  GetOpportunityHistoricalAPR: 'getOpportunityHistoricalApr',
  GetOpportunityHistoricalAPY: 'getOpportunityHistoricalApy',
  GetOpportunityHistoricalSharePrice: null,
  GetOpportunityHistoricalTVL: 'getOpportunityHistoricalTvl',
  GetProtocols: null,
  GetStreamPoints: null,
  GetStreamTokens: null,
  GetStreamWallet: null,
  GetStreamWallets: null,
  GetStreams: null,
  GetStreamsForWallet: null,
  GetSwap: 'getEarnSwapV2',
  GetSwapDetails: null,
  GetSwapTokens: null,
  GetTokenByAddress: null,
  GetTokens: null,
  GetWalletActivity: null,
  GetWalletPortfolio: 'protocolsWalletGetWalletPortfolio',
  ListInteractions: null,
  ListOpportunities: null,
  ListOpportunitiesByDistributor: null,
  PostStreamsBulk: null,
  VerifyTracking: null,
}

export const originName = (operationId) =>
  operationId in origin ? (origin[operationId] ?? operationId[0].toLowerCase() + operationId.slice(1)) : undefined

const upper = (name) => name[0].toUpperCase() + name.slice(1)

/** The files of src/turtle/generated: types and functions by the origin's names. */
export function turtleFiles(described, head) {
  const known = described.filter(({ operationId }) => operationId in origin)
  const missing = Object.keys(origin).filter((id) => known.every(({ operationId }) => operationId !== id))
  if (missing.length) throw new Error(`the document has no ${missing.join(', ')}`)
  return [
    ['turtle/generated/types.ts', `${head}${typesOf(known)}`],
    ['turtle/generated/operations.ts', `${head}${functionsOf(known)}`],
  ]
}

function typesOf(known) {
  const texts = known.map((operation) => {
    const { operationId, path, properties, required, method, query } = operation
    const name = upper(originName(operationId))
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const rest = Object.keys(properties).filter((member) => !inPath.includes(member))
    const inQuery = method === 'GET' ? rest : query
    const inBody = rest.filter((member) => !inQuery.includes(member))
    const part = (kind, names) => {
      if (names.length === 0) return `  ${kind}?: undefined\n`
      const written = members(Object.fromEntries(names.map((member) => [member, properties[member]])), required, {
        input: true,
        plain: true,
        indent: '    ',
      })
      const optional = kind === 'query' && names.every((member) => !required.includes(member))
      return `  ${kind}${optional ? '?' : ''}: {\n${written}  }${optional ? ' | undefined' : ''}\n`
    }
    const parts = [part('path', inPath), part('query', inQuery), part('body', inBody)].join('')
    return `export type ${name}Data = {
${parts}  url: '${path}'
}
export type ${name}Responses = { 200: client.${operationId}Result }
export type ${name}Response = ${name}Responses[keyof ${name}Responses]
export type ${name}Error = client.Error
`
  })
  return `import type * as client from '../../client/generated/types.js'\n\nexport type * from '../../client/generated/types.js'\n\n${texts.join('\n')}`
}

function functionsOf(known) {
  const texts = known.map(({ operationId, method, path, summary }) => {
    const name = originName(operationId)
    const types = `types.${upper(name)}Data, types.${upper(name)}Response`
    return `${comment(summary)}export const ${name} = /*#__PURE__*/ ${method.toLowerCase()}<${types}>('${path}')\n`
  })
  return `import { get, post } from '../operation.js'\nimport type * as types from './types.js'\n\n${texts.join('\n')}`
}
