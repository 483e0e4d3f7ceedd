module example.com/yield

go 1.19
