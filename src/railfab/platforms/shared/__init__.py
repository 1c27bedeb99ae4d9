"""Parts that several platforms share: line trees and grammars, JSON datastores, SSH and gNMI transports."""
