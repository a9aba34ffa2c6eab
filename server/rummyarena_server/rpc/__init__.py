"""The network side of the server: `bridge` between grpcio and trio, `play` the bots' stream, `server` both together."""
