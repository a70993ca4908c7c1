module github.com/mcp-conform/mcp-conform

go 1.26
