/* The plainest round trips there can be, to hold an instrument against: one connection, one message
 * there and back, a clock read before and after.
 *
 *   pingpong server tcp|udp block|spin PORT BYTES CPU ADDRESS
 *   pingpong client tcp|udp block|spin PORT BYTES CPU ADDRESS EXCHANGES
 *
 * The client prints the median of its round trips in ns. The server ends with the first client. Over
 * UDP it answers whoever asks, as servers do that do not know their clients. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int flags;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static unsigned long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void get(int fd, char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = recv(fd, at, left, flags);
		if (n == 0)
			exit(0);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			die("recv");
		if (n > 0) {
			at += n;
			left -= n;
		}
	}
}

static void put(int fd, const char *at, size_t left)
{
	while (left > 0) {
		ssize_t n = send(fd, at, left, MSG_NOSIGNAL);
		if (n < 0)
			die("send");
		at += n;
		left -= n;
	}
}

static int ascending(const void *a, const void *b)
{
	unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
	return (x > y) - (x < y);
}

static socklen_t address(const char *text, int port, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (void *)out;
	struct sockaddr_in6 *six = (void *)out;
	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof *four;
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
		die(text);
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return sizeof *six;
}

int main(int argc, char **argv)
{
	if (argc < 8)
		return 2;
	int server = !strcmp(argv[1], "server"), tcp = !strcmp(argv[2], "tcp"), on = 1;
	int port = atoi(argv[4]), bytes = atoi(argv[5]);
	flags = strcmp(argv[3], "spin") ? 0 : MSG_DONTWAIT;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[6]), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		die("sched_setaffinity");
	struct sockaddr_storage to, from;
	socklen_t length = address(argv[7], port, &to), size = sizeof from;
	int fd = socket(to.ss_family, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0)
		die("socket");
	char *message = calloc(1, bytes);
	if (tcp)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (server) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (bind(fd, (void *)&to, length))
			die("bind");
		if (tcp) {
			listen(fd, 1);
			fd = accept(fd, NULL, NULL);
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		}
		while (!tcp) {
			ssize_t n = recvfrom(fd, message, bytes, flags, (void *)&from, &size);
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				die("recvfrom");
			if (n > 0 && sendto(fd, message, n, 0, (void *)&from, size) < 0)
				die("sendto");
		}
		for (;;) {
			get(fd, message, bytes);
			put(fd, message, bytes);
		}
	}
	int count = atoi(argv[8]);
	unsigned long long *times = calloc(count, sizeof *times);
	if (connect(fd, (void *)&to, length))
		die("connect");
	for (int i = 0; i < count; i++) {
		unsigned long long start = now();
		put(fd, message, bytes);
		get(fd, message, bytes);
		times[i] = now() - start;
	}
	qsort(times, count, sizeof *times, ascending);
	printf("%llu\n", times[count / 2]);
	return 0;
}
