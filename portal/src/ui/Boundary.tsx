import { Component, type ReactNode } from 'react'
import { Fault } from './Notice.js'

type Props = { children: ReactNode }
type State = { error: Error | null }

/** A page that cannot be drawn, as where a part of the program does not load, says so instead of taking the rest with it. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    return <Fault error={error} retry={() => location.reload()} />
  }
}
